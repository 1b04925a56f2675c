// SPDX-License-Identifier: Apache-2.0
// A batch on a real Slurm: a cluster of this one machine, which the test starts and ends itself.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "tests/driver/tool_process.h"
#include "tests/driver/tool_runner.h"

namespace stowage::test {
namespace {

namespace fs = std::filesystem;

/// A port that nobody has, now.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool good = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(socket);
  REQUIRE(good);
  return ntohs(address.sin_port);
}

/// What a command prints; it has to succeed.
std::string printed(const std::string& command) {
  const int code = std::system((command + " > printed.txt 2>&1").c_str());
  INFO(command << "\n" << read_text("printed.txt"));
  REQUIRE(code == 0);
  return read_text("printed.txt");
}

/// Keys and daemons in the folder "cluster"; ended with this object.
class SlurmCluster {
 public:
  SlurmCluster() {
    fs::create_directories("cluster/state");
    fs::create_directories("cluster/spool");
    const std::string folder = fs::absolute("cluster").string();
    write_configuration(folder);
    ::setenv("SLURM_CONF", (folder + "/slurm.conf").c_str(), 1);
    const std::string munged = "/usr/sbin/munged --force --key-file=" + folder + "/munge.key --socket=" + folder +
                               "/munge.socket --pid-file=" + folder + "/munged.pid --log-file=" + folder +
                               "/munged.log --seed-file=" + folder + "/munged.seed";
    for (const std::string& daemon : {munged, std::string("/usr/sbin/slurmctld"), std::string("/usr/sbin/slurmd")}) {
      if (std::system((daemon + " > cluster/start.txt 2>&1").c_str()) == 0) continue;
      why_not_ = daemon.substr(0, daemon.find(' ')) + " does not start: " + read_text("cluster/start.txt");
      return;
    }
    for (int tries = 0; tries < 200; ++tries) {
      if (std::system("sinfo -h -o %T > cluster/sinfo.txt 2>&1") == 0 && read_text("cluster/sinfo.txt") == "idle\n")
        return;
      sleep_milliseconds(100);
    }
    why_not_ = "the node does not get ready: " + read_text("cluster/sinfo.txt");
  }
  ~SlurmCluster() {
    for (const char* const daemon : {"slurmd", "slurmctld", "munged"}) {
      pid_t process = 0;
      std::ifstream(fs::path("cluster") / (std::string(daemon) + ".pid")) >> process;
      if (process <= 0) continue;
      ::kill(process, SIGTERM);
      for (int tries = 0; tries < 100 && ::kill(process, 0) == 0; ++tries) sleep_milliseconds(50);
      ::kill(process, SIGKILL);
    }
    ::unsetenv("SLURM_CONF");
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// Empty where it runs.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  static void write_configuration(const std::string& folder) {
    std::array<char, 256> name{};
    REQUIRE(::gethostname(name.data(), name.size() - 1) == 0);
    std::string host = name.data();
    host = host.substr(0, host.find('.'));
    write_text("cluster/slurm.conf",
               "ClusterName=test\nSlurmctldHost=" + host +
                   "(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n"
                   "AuthType=auth/munge\nAuthInfo=socket=" +
                   folder +
                   "/munge.socket\n"
                   "SlurmctldPort=" +
                   std::to_string(free_port()) + "\nSlurmdPort=" + std::to_string(free_port()) +
                   "\n"
                   "StateSaveLocation=" +
                   folder + "/state\nSlurmdSpoolDir=" + folder +
                   "/spool\n"
                   "SlurmctldPidFile=" +
                   folder + "/slurmctld.pid\nSlurmdPidFile=" + folder +
                   "/slurmd.pid\n"
                   "SlurmctldLogFile=" +
                   folder + "/slurmctld.log\nSlurmdLogFile=" + folder +
                   "/slurmd.log\n"
                   "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n"
                   "AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\n"
                   "SelectTypeParameters=CR_Core\nReturnToService=2\nMpiDefault=none\nKillWait=1\n"
                   "NodeName=" +
                   host +
                   " NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n"
                   "PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n");
    std::string key(1024, '\0');
    std::ifstream("/dev/urandom", std::ios::binary).read(key.data(), static_cast<std::streamsize>(key.size()));
    write_text("cluster/munge.key", key);
    fs::permissions("cluster/munge.key", fs::perms::owner_read | fs::perms::owner_write);
  }

  std::string why_not_;
};

std::string why_no_cluster() {
  if (::geteuid() != 0) return "a Slurm of its own needs root";
  for (const char* const program : {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch"}) {
    if (!fs::exists(program))
      return std::string(program) + " is not there (packages slurmctld, slurmd, slurm-client and munge)";
  }
  return "";
}

void run(const std::vector<std::string>& arguments, int code = 0) {
  const int got = wait_for(start(arguments));
  INFO(read_text("out.txt") << read_text("err.txt"));
  REQUIRE(got == code);
}

constexpr const char* jobs = R"([slurm]
shards = 4
limit = 2
cpus = 1
time = "10"

[defaults]
planner = "swtvm"

[[job]]
name = "long"
network = "cifarnet"
planner = "searched"

[[job]]
name = "bad"
model = "missing.onnx"

[[job]]
name = "l"
network = "lenet"
[job.sweep]
fusion = ["none", "greedy"]
"target.ldm.bytes" = [16384, 32768]
)";

TEST_CASE("a Slurm array gives the bytes of one process, and what was killed is found and done") {
  const Workplace here;
  std::string missing = why_no_cluster();
  if (!missing.empty()) {
    WARN("skipped, 1 case: " + missing);
    return;
  }
  const SlurmCluster cluster;
  if (!cluster.why_not().empty()) {
    WARN("skipped, 1 case: " + cluster.why_not());
    return;
  }
  write_text("jobs.toml", jobs);
  const std::vector<std::string> command = {"batch", "jobs.toml", "--slurm", "jobs.sbatch"};
  run(command);
  const auto queue_gets_empty = [] {  // on a busy machine, too
    for (int tries = 0; tries < 10; ++tries) {
      if (comes_true([] { return printed("squeue -h").empty(); })) return true;
    }
    return false;
  };
  const std::string id = printed("sbatch --parsable jobs.sbatch");
  // The longest job is in the first shard. It is at it when its network is there.
  REQUIRE(comes_true([] { return fs::exists("jobs-out/shards/1-of-4/networks/cifarnet-batch1-seed1.onnx"); }));
  printed("scancel --full --signal=KILL " + id.substr(0, id.find('\n')) + "_1");
  REQUIRE(queue_gets_empty());
  // What Slurm says of a task is kept beside what the task says.
  for (const char* const task : {"_1", "_2", "_3", "_4"}) {
    CHECK(fs::exists("jobs-out/logs/slurm-" + id.substr(0, id.find('\n')) + task + ".out"));
  }
  run(command);
  INFO(read_text("out.txt"));
  CHECK(read_text("out.txt").find("4 shards in jobs-out/shards: 3 done (2-4) and 1 stopped before the end (1)\n") !=
        std::string::npos);
  CHECK(read_text("jobs.sbatch").find("#SBATCH --array=1%2\n") != std::string::npos);
  printed("sbatch --parsable jobs.sbatch");
  REQUIRE(queue_gets_empty());
  run(command);
  CHECK(read_text("out.txt").find("4 done (1-4)\nput them together by\n") != std::string::npos);

  std::vector<std::string> by_slurm = {"batch", "-o", "by-slurm", "--merge"};
  std::vector<std::string> by_hand = {"batch", "-o", "by-hand", "--merge"};
  for (const std::string number : {"1", "2", "3", "4"}) {
    by_slurm.push_back("jobs-out/shards/" + number + "-of-4");
    by_hand.push_back("jobs-out-" + number + "-of-4");
    const int code = wait_for(start({"batch", "jobs.toml", "--shard", number + "/4"}));
    CHECK((code == 0 || code == 1));
  }
  run(by_slurm, 1);  // one job fails
  run(by_hand, 1);
  run({"batch", "jobs.toml", "-o", "by-one"}, 1);
  for (const char* const file : {"results.jsonl", "summary.csv"}) {
    INFO(file);
    const std::string one = read_text(fs::path("by-one") / file);
    CHECK(std::count(one.begin(), one.end(), '\n') >= 6);
    CHECK(read_text(fs::path("by-hand") / file) == one);
    CHECK(read_text(fs::path("by-slurm") / file) == one);
  }
}

}  // namespace
}  // namespace stowage::test
