// SPDX-License-Identifier: Apache-2.0
#include "emitter/process/confinement.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace stowage {
namespace {

// ---- files: Landlock ----

// Later than the headers of Linux 5.19.
constexpr std::uint64_t access_truncate = 1U << 14U;
constexpr long first_with_refer = 2;
constexpr long first_with_truncate = 3;

std::uint64_t writing_accesses(long version) {
  std::uint64_t all = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                      LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                      LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                      LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= first_with_refer) all |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= first_with_truncate) all |= access_truncate;
  return all;
}

/// Links and pipes would lead us astray when we read the results.
constexpr std::uint64_t accesses_in_folder =
    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | access_truncate;

/// -1 where the kernel has no Landlock.
int landlock_rules(const std::filesystem::path& folder) {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return -1;
  landlock_ruleset_attr all{};
  all.handled_access_fs = writing_accesses(version);
  const auto rules = static_cast<int>(syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0));
  if (rules < 0) return -1;
  landlock_path_beneath_attr beneath{};
  beneath.allowed_access = accesses_in_folder & all.handled_access_fs;
  beneath.parent_fd = open(folder.c_str(), O_PATH | O_CLOEXEC);
  const int error =
      beneath.parent_fd < 0 || syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0
          ? errno
          : 0;
  if (beneath.parent_fd >= 0) close(beneath.parent_fd);
  if (error == 0) return rules;
  close(rules);
  throw std::filesystem::filesystem_error("cannot confine a program to", folder,
                                          std::error_code(error, std::generic_category()));
}

// ---- system calls: seccomp ----

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;  // the numbers below are not known to be those of this machine
#endif

constexpr std::uint32_t x32_bit = 0x40000000U;

/// Refused whatever their arguments. What else could reach beyond the process: network, processes, devices, shared
/// memory that outlives it, attributes of files (which Landlock leaves alone), limits, the machine itself.
constexpr long refused_calls[] = {
    SYS_socket,
    SYS_socketpair,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_sendto,
    SYS_sendmsg,
    SYS_io_uring_setup,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_pidfd_send_signal,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_setpgid,
    SYS_setsid,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setscheduler,
    SYS_sched_setattr,

    SYS_truncate,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_utimensat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_linkat,
    SYS_symlinkat,
    SYS_mknodat,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_memfd_create,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_mount,
    SYS_umount2,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsmount,
    SYS_mount_setattr,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_syslog,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_vhangup,
#if defined(__x86_64__)
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
    SYS_link,
    SYS_symlink,
    SYS_mknod,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};

constexpr std::uint32_t set_parent_death_signal = PR_SET_PDEATHSIG;

/// A program of the kernel's packet filter over seccomp_data, built without memory of its own.
class Filter {
 public:
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void load_argument(int index, bool high = false) {
    load(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * static_cast<std::size_t>(index) + (high ? 4U : 0U));
  }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what); }
  void answer_if(std::uint32_t value, std::uint32_t what) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(what);
  }
  void answer_unless(std::uint32_t value, std::uint32_t what) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    answer(what);
  }
  void answer_from(std::uint32_t least, std::uint32_t what) {
    add(BPF_JMP | BPF_JGE | BPF_K, least, 0, 1);
    answer(what);
  }
  /// The instructions until the matching end() are for this call only, and must end in an answer.
  void begin(long call) {
    begin_ = size_;
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 0);
  }
  void end() { code_[begin_].jf = static_cast<std::uint8_t>(size_ - begin_ - 1); }

  [[nodiscard]] bool install() const {
    sock_fprog program{};
    program.len = static_cast<unsigned short>(size_);
    program.filter = const_cast<sock_filter*>(code_.data());  // the kernel only reads it
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  void add(int code, std::uint32_t value, int if_true = 0, int if_false = 0) {
    code_[size_++] = sock_filter{static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
                                 static_cast<std::uint8_t>(if_false), value};
  }
  std::array<sock_filter, 512> code_{};
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
};

constexpr std::uint32_t allow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t unknown = SECCOMP_RET_ERRNO | ENOSYS;  // for calls whose arguments the filter cannot see

void add_files(Filter& filter, long call, int flags_argument) {
  filter.begin(call);  // Landlock before version 3 lets a file be emptied that is opened for reading
  filter.load_argument(flags_argument);
  filter.mask(O_ACCMODE | O_TRUNC);
  filter.answer_if(static_cast<std::uint32_t>(O_RDONLY) | O_TRUNC, refuse);
  filter.answer(allow);
  filter.end();
}

void add_one_process_only(Filter& filter, long call, std::uint32_t process) {
  filter.begin(call);
  filter.load_argument(0);
  filter.answer_if(process, allow);
  filter.answer(refuse);
  filter.end();
}

/// One program with the limits that it was given.
void add_one_program(Filter& filter, const char* program) {
#if defined(__x86_64__)
  for (const long call : {SYS_fork, SYS_vfork}) filter.answer_if(static_cast<std::uint32_t>(call), refuse);
#endif
  filter.begin(SYS_clone);  // threads only
  filter.load_argument(0);
  filter.mask(CLONE_THREAD);
  filter.answer_if(0, refuse);
  filter.answer(allow);
  filter.end();

  filter.begin(SYS_execve);  // once: the address means nothing to the program that runs then
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(program));
  filter.load_argument(0);
  filter.answer_unless(static_cast<std::uint32_t>(address), refuse);
  filter.load_argument(0, true);
  filter.answer_unless(static_cast<std::uint32_t>(address >> 32U), refuse);
  filter.answer(allow);
  filter.end();

  filter.answer_if(SYS_setrlimit, refuse);
  filter.begin(SYS_prlimit64);  // reading only
  filter.load_argument(2);
  filter.answer_unless(0, refuse);
  filter.load_argument(2, true);
  filter.answer_unless(0, refuse);
  filter.answer(allow);
  filter.end();
}

/// Made in the child, which alone knows its number. `program` is the address of its path.
Filter filter_for(const char* program, std::uint32_t process, bool sanitizer) {
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.answer_unless(architecture, SECCOMP_RET_KILL_PROCESS);
  filter.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  filter.answer_from(x32_bit, unknown);
  add_files(filter, SYS_open, 1);
#endif
  for (const long call : refused_calls) filter.answer_if(static_cast<std::uint32_t>(call), refuse);
  for (const long call : {SYS_clone3, SYS_openat2}) filter.answer_if(static_cast<std::uint32_t>(call), unknown);
  add_files(filter, SYS_openat, 2);

  add_one_process_only(filter, SYS_kill, process);
  add_one_process_only(filter, SYS_tgkill, process);

  if (!sanitizer) add_one_program(filter, program);

  filter.begin(SYS_prctl);
  filter.load_argument(0);
  filter.answer_if(set_parent_death_signal, refuse);
  filter.answer(allow);
  filter.end();

  filter.begin(SYS_ioctl);  // what would type into the user's terminal
  filter.load_argument(1);
  for (const std::uint32_t request : {TIOCSTI, TIOCLINUX, TIOCSCTTY}) filter.answer_if(request, refuse);
  filter.answer(allow);
  filter.end();

  filter.answer(allow);
  return filter;
}

bool kernel_filters() {
  // With no program it fails in any case: EFAULT says that filters are known.
  return architecture != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr, 0, 0) != 0 && errno == EFAULT;
}

bool limit(decltype(RLIMIT_AS) what, std::int64_t value) {
  rlimit bounds{};
  bounds.rlim_cur = static_cast<rlim_t>(value);
  bounds.rlim_max = bounds.rlim_cur;
  rlimit now{};
  if (getrlimit(what, &now) == 0 && now.rlim_max <= bounds.rlim_max) bounds = {now.rlim_max, now.rlim_max};
  return setrlimit(what, &bounds) == 0;
}

}  // namespace

Confinement::Confinement(const std::filesystem::path& folder, std::int64_t memory_bytes, bool sanitizer)
    : rules_(landlock_rules(folder)), filters_(kernel_filters()), memory_bytes_(memory_bytes), sanitizer_(sanitizer) {}

Confinement::~Confinement() {
  if (rules_ >= 0) close(rules_);
}

std::vector<std::string> Confinement::missing() const {
  std::vector<std::string> result;
  if (rules_ < 0) result.emplace_back("writing outside its folder (Landlock is missing)");
  if (!filters_) result.emplace_back("the network and other processes (seccomp filters are missing)");
  return result;
}

bool Confinement::enter(const char* program, pid_t process) const noexcept {
  if (!limit(RLIMIT_CORE, 0)) return false;
  if (!sanitizer_ && (!limit(RLIMIT_AS, memory_bytes_) || !limit(RLIMIT_FSIZE, memory_bytes_))) return false;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (rules_ >= 0 && syscall(SYS_landlock_restrict_self, rules_, 0) != 0) return false;
  return !filters_ || filter_for(program, static_cast<std::uint32_t>(process), sanitizer_).install();
}

}  // namespace stowage
