// SPDX-License-Identifier: Apache-2.0
// Plans that the tool of this build makes, and edits of them that it is given back as files.
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QString>
#include <cstdint>
#include <string>

#include "inspector/whatif/edit.h"
#include "inspector/whatif/job_form.h"

namespace stowage::test {

QByteArray read_file(const QString& path);
void save_text(const QString& path, const std::string& text);
/// Runs a command line as a shell does, with the tool of this build; what it printed.
QByteArray run_in(const QString& folder, QString line);
/// What the inspector opens there.
inspector::PlanPtr loaded(const QString& path, const std::string& job = {});

inspector::JobForm form_of(const inspector::LoadedPlan& plan, const inspector::PlanEdit& edit);
/// The totals that the command line gives for the edits when they are saved in a folder of their own, far from the
/// plan: by the commands in the first lines of the schedule file, and by the batch file. They must agree.
QJsonObject saved_totals(const inspector::PlanPtr& plan, const inspector::PlanEdit& edit);
std::int64_t number(const QJsonObject& json, const char* key);
/// The saved edits lead to what the window shows for the whole network.
void check_saved(const inspector::PlanPtr& plan, const inspector::PlanEdit& edit);

}  // namespace stowage::test
