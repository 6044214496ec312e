/* SPDX-License-Identifier: MIT */
/* server.c - a process that has loaded a linker, and forks for each isolated link */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "environment.h"
#include "../../stubs/base/auxiliary.h"
#include "../../stubs/base/count.h"
#include "../../stubs/base/glibc.h"
#include "../../stubs/base/regular.h"

/* ---- what a server depends on ---- */

/* What a process inherits, as proc_pid_status(5) has it. */
static const char *const inherited[] = {
	"Umask", "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
	"NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed", "Mems_allowed",
};

/* What limits and confines it otherwise, where there is such a thing. */
static const char *const labels[] = { "cgroup", "attr/current" };

#define PROC_BYTES 16384

/* The lines of these, without others, which change all the time. */
static bool add_status(struct lc_arena *arena, struct lc_strings *all)
{
	char buffer[LC_OWN_PATH];
	struct stat st;
	const char *line = lc_read_regular(arena, lc_own_file(buffer, "status"), PROC_BYTES, &st);
	size_t found = 0;

	for (; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		for (size_t i = 0; i < LC_COUNT(inherited); i++)
			if (strcspn(line, ":") == strlen(inherited[i]) &&
			    !strncmp(line, inherited[i], strlen(inherited[i]))) {
				lc_add_string(arena, all, lc_copy(arena, line, strcspn(line, "\n")));
				found++;
			}
	return found;
}

/* Which file this is, whatever is in it. */
static bool add_inode(struct lc_arena *arena, struct lc_strings *all, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	lc_add_string(arena, all, lc_format(arena, "%llx %llx", (unsigned long long)st.st_dev,
					    (unsigned long long)st.st_ino));
	return true;
}

/* False also if children are in another PID namespace: the first of them ends it when it ends. */
static bool add_namespaces(struct lc_arena *arena, struct lc_strings *all)
{
	static const char *const names[] = { "ns/mnt", "ns/net", "ns/user", "ns/ipc", "ns/uts", "ns/pid" };
	char buffer[LC_OWN_PATH];
	struct stat own, children;

	for (size_t i = 0; i < LC_COUNT(names); i++)
		if (!add_inode(arena, all, lc_own_file(buffer, names[i])))
			return false;
	/* Before Linux 4.12 there is no second file. */
	return !stat(lc_own_file(buffer, "ns/pid"), &own) &&
	       (stat(lc_own_file(buffer, "ns/pid_for_children"), &children) || children.st_ino == own.st_ino);
}

/* All that a server of this tool depends on, as text; NULL if that cannot be told. */
static char *conditions(struct lc_arena *arena, enum lk_tool tool, const char *file,
			const char *const *variables)
{
	char **environment = lk_child_environment(arena, variables), buffer[LC_OWN_PATH];
	struct lc_strings all = { .count = 0 };
	const char *limits, *more;
	struct stat st;

	for (size_t i = 0; i < LC_COUNT(labels); i++) {
		more = lc_read_regular(arena, lc_own_file(buffer, labels[i]), PROC_BYTES, &st);
		lc_add_string(arena, &all, more ? more : "");
	}
	limits = lc_read_regular(arena, lc_own_file(buffer, "limits"), PROC_BYTES, &st);
	if (!environment || !limits || !add_status(arena, &all) || !add_namespaces(arena, &all) ||
	    !add_inode(arena, &all, "/") || !add_inode(arena, &all, file) || stat(file, &st))
		return NULL;
	lc_add_string(arena, &all, lc_format(arena, "%d %s %llx %llx.%lx", (int)tool, file,
			(unsigned long long)st.st_size, (unsigned long long)st.st_ctim.tv_sec,
			(unsigned long)st.st_ctim.tv_nsec));
	lc_add_string(arena, &all, limits);
	for (size_t i = 0; environment[i]; i++)
		lc_add_string(arena, &all, environment[i]);
	return arena->failed ? NULL : lc_join(arena, (const char *const *)all.list, all.count, "\n");
}

/* ---- the servers of this process ---- */

#define SERVERS 4

static struct server {
	int jobs;		/* the socket */
	ino_t inode;		/* its own */
	pid_t owner;		/* the process that started it; 0: there is none */
	char *conditions;
} servers[SERVERS];
static size_t next;		/* to be replaced */

/* The process of which a thread looks for a server, starts one, or gives it a job; 0: none does.  In a
 * child of fork() it may be the parent, and that thread is not there. */
static _Atomic pid_t choosing;
#define CHOOSING_MS 1000

static bool try_to_choose(void)
{
	const uint64_t end = lk_now() + CHOOSING_MS;
	const struct timespec moment = { .tv_nsec = 100 * 1000 };
	const pid_t self = getpid();
	pid_t other = 0;

	while (!atomic_compare_exchange_strong(&choosing, &other, self)) {
		if (other != self)
			continue;
		if (lk_now() > end)
			return false;
		nanosleep(&moment, NULL);
		other = 0;
	}
	return true;
}

/* A program that becomes a daemon, say, closes all files, and opens others of these numbers. */
static bool is_open(const struct server *server)
{
	struct stat st;

	return !fstat(server->jobs, &st) && S_ISSOCK(st.st_mode) && st.st_ino == server->inode;
}

static void forget(struct server *server)
{
	const struct server gone = *server;

	if (!gone.owner)
		return;
	*server = (struct server){ .owner = 0 };	/* first: a fork() may come in between */
	if (is_open(&gone))
		close(gone.jobs);
	free(gone.conditions);
}

/* A child of fork() has its parent's. */
static struct server *find_server(const char *key)
{
	struct server *found = NULL;

	for (size_t i = 0; i < SERVERS; i++) {
		if (servers[i].owner && (servers[i].owner != getpid() || !is_open(&servers[i])))
			forget(&servers[i]);
		if (servers[i].owner && !strcmp(servers[i].conditions, key))
			found = &servers[i];
	}
	return found;
}

/* The command leaves its own child behind, which serves. */
static bool run_command(struct lc_arena *arena, int jobs, const char *const *variables,
			uint64_t deadline, int cancel)
{
	const char *const words[] = { lk_child_program(arena), LK_CHILD_COMMAND, LK_SERVE_WORD, NULL };
	struct lk_child child = { .job = jobs, .life = -1, .status = -1 };
	enum lk_ending ending = LK_NOT_STARTED;

	child.output = child.report = lk_keep_away(open("/dev/null", O_RDWR | O_CLOEXEC));
	if (child.output >= 0)
		ending = lk_child_run(&child, arena, words, variables, deadline, cancel);
	child.job = child.report = -1;
	lk_child_close(&child);
	return ending == LK_ENDED;
}

static struct server *start_server(struct lc_arena *arena, const char *key, const char *const *variables,
				   uint64_t deadline, int cancel)
{
	struct server *server = &servers[next++ % SERVERS];
	struct stat st = { .st_ino = 0 };
	int ends[2];
	bool started;

	forget(server);
	server->conditions = strdup(key);
	if (!server->conditions || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		free(server->conditions);
		return NULL;
	}
	ends[1] = lk_keep_away(ends[1]);
	started = ends[1] >= 0 && run_command(arena, ends[1], variables, deadline, cancel);
	if (ends[1] >= 0)
		close(ends[1]);
	fstat(ends[0], &st);
	server->inode = st.st_ino;
	server->jobs = ends[0];
	server->owner = getpid();
	if (started)
		return server;
	forget(server);
	return NULL;
}

static __attribute__((destructor)) void forget_all(void)
{
	/* exit() may come while another thread links. */
	for (size_t i = 0; i < SERVERS && try_to_choose(); i++) {
		forget(&servers[i]);
		atomic_store(&choosing, 0);
	}
}

/* ---- a job, here ---- */

/* The files of a job.  By LIFE the server says how the child ended, as waitpid() has it, and hears by
 * which signals to end it, each a byte. */
enum { JOB, OUTPUT, REPORT, LIFE, FOLDER, FILES };

/* A job in one message. */
struct passing {
	struct msghdr header;
	struct iovec text;
	uint32_t tool;		/* enum lk_tool */
	union {
		struct cmsghdr first;	/* for its alignment */
		char bytes[CMSG_SPACE(FILES * sizeof(int))];
	} files;
};

static void prepare(struct passing *passing)
{
	*passing = (struct passing){ .header = { .msg_iovlen = 1 } };
	passing->text = (struct iovec){ &passing->tool, sizeof(passing->tool) };
	passing->header.msg_iov = &passing->text;
	passing->header.msg_control = passing->files.bytes;
	passing->header.msg_controllen = sizeof(passing->files.bytes);
}

static bool send_job(const struct server *server, enum lk_tool tool, const int *files)
{
	struct passing passing;
	struct cmsghdr *list;

	prepare(&passing);
	passing.tool = (uint32_t)tool;
	list = CMSG_FIRSTHDR(&passing.header);
	*list = (struct cmsghdr){ .cmsg_len = CMSG_LEN(FILES * sizeof(int)),
				  .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(list), files, FILES * sizeof(int));
	return LC_AGAIN(sendmsg(server->jobs, &passing.header, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0;
}

/* Has a server that is there, or a new one, take the job. */
static bool hand_over(struct lc_arena *arena, enum lk_tool tool, const char *key,
		      const char *const *variables, const int *files, uint64_t deadline, int cancel)
{
	struct server *server;
	bool sent;

	if (!try_to_choose())
		return false;
	server = find_server(key);
	sent = server && send_job(server, tool, files);
	if (server && !sent)
		forget(server);		/* it had nothing to do, and has ended */
	if (!sent) {
		server = start_server(arena, key, variables, deadline, cancel);
		sent = server && send_job(server, tool, files);
	}
	atomic_store(&choosing, 0);
	return sent;
}

/* Waits until the child has ended, `deadline`, or something can be read from `cancel`. */
static enum lk_ending watch(struct lk_child *child, int life, uint64_t deadline, int cancel)
{
	struct pollfd files[] = { { .fd = life, .events = POLLIN }, { .fd = cancel, .events = POLLIN } };
	int status;

	for (;;) {
		const uint64_t now = lk_now();
		int wait = -1;

		if (deadline && now >= deadline)
			return LK_OUT_OF_TIME;
		if (deadline)
			wait = deadline - now < 60000 ? (int)(deadline - now) : 60000;
		if (poll(files, 2, wait) <= 0)
			continue;
		if (files[1].revents)
			return LK_CANCELLED;
		if (LC_AGAIN(read(life, &status, sizeof(status))) == (ssize_t)sizeof(status))
			child->status = status;
		return LK_ENDED;
	}
}

static void tell(int life, unsigned char number)
{
	send(life, &number, sizeof(number), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A server that could not load its library has not even begun. */
static bool has_begun(const struct lk_child *child)
{
	struct lk_report report;

	return child->status != -1 || pread(child->report, &report, sizeof(report), 0) !=
		(ssize_t)sizeof(report) || report.state != LK_REPORT_NOTHING;
}

static enum lk_ending await(struct lk_child *child, int life, uint64_t deadline, int cancel)
{
	enum lk_ending ending = watch(child, life, deadline, cancel);

	if (ending == LK_ENDED)
		return has_begun(child) ? LK_ENDED : LK_NOT_STARTED;
	tell(life, SIGTERM);
	if (watch(child, life, lk_now() + LK_GRACE_MS, -1) != LK_ENDED) {
		tell(life, SIGKILL);
		watch(child, life, lk_now() + LK_GRACE_MS, -1);
	}
	return ending;
}

/* A program that links once has no use for a server.  Where this process is the one that children of
 * others come to, a server would be its child. */
static bool is_worth_a_server(enum lk_tool tool)
{
	static _Atomic bool asked[LK_TILEIRAS];
	int reaps = 0;

	return (tool == LK_NVRTC || tool == LK_NVJITLINK) && atomic_exchange(&asked[tool], true) &&
	       getpid() != 1 && !prctl(PR_GET_CHILD_SUBREAPER, &reaps) && !reaps &&
	       !lk_child_ids_differ() && !lc_is_privileged();
}

enum lk_ending lk_server_run(struct lk_child *child, struct lc_arena *arena, enum lk_tool tool,
			     const char *file, const char *const *variables, uint64_t deadline,
			     int cancel)
{
	const char *key = file && is_worth_a_server(tool) ? conditions(arena, tool, file, variables) : NULL;
	enum lk_ending ending = LK_NOT_STARTED;
	int ends[2], here;

	if (!key)
		return LK_NOT_STARTED;
	here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (here >= 0 && !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		const int files[FILES] = { [JOB] = child->job, [OUTPUT] = child->output,
					   [REPORT] = child->report, [LIFE] = ends[1], [FOLDER] = here };
		const bool sent = hand_over(arena, tool, key, variables, files, deadline, cancel);

		close(ends[1]);
		if (sent)
			ending = await(child, ends[0], deadline, cancel);
		close(ends[0]);
	}
	if (here >= 0)
		close(here);
	return ending;
}

/* ---- in the command ---- */

#define JOBS 64
#define IDLE_MS 5000
/* What a child that the program has forked inherits keeps no end of a socket from being open: so the
 * end of the program itself is watched. */
#define PIDFD_OPEN 434

static struct serving {
	pid_t pid;
	int life;
} serving[JOBS];
static size_t serving_count;

/* In the child. */
static void take_files(const int *files, pid_t server)
{
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(files[JOB], LK_CHILD_JOB);
	dup2(files[OUTPUT], LK_CHILD_OUTPUT);
	dup2(files[OUTPUT], LK_CHILD_ERRORS);
	dup2(files[REPORT], LK_CHILD_REPORT);
	if (fchdir(files[FOLDER]) || getppid() != server)
		_exit(2);
}

/* Returns false if it cannot be loaded, or has a thread, which fork() would leave behind: a folder has
 * two links, and one for each. */
static bool load(enum lk_tool tool)
{
	static bool loaded;
	struct lc_arena *arena = loaded ? NULL : lc_arena_new();
	struct stat st;

	if (!loaded)
		loaded = arena && !lk_why_missing(arena, tool) && !stat("/proc/self/task", &st) &&
			 st.st_nlink <= 3;
	lc_arena_free(arena);
	return loaded;
}

static void stop_taking(int *jobs)
{
	if (*jobs >= 0)
		close(*jobs);
	*jobs = -1;
}

/* Takes a job; true in its child.  Sets *jobs to -1 if none will come any more. */
static bool take_job(int *jobs)
{
	const pid_t server = getpid();
	int files[FILES];
	struct passing passing;
	struct cmsghdr *list;
	ssize_t length;
	pid_t pid;

	prepare(&passing);
	length = LC_AGAIN(recvmsg(*jobs, &passing.header, MSG_CMSG_CLOEXEC));
	list = length > 0 ? CMSG_FIRSTHDR(&passing.header) : NULL;
	if (length != (ssize_t)sizeof(passing.tool) || !list || list->cmsg_len != CMSG_LEN(sizeof(files)) ||
	    !load((enum lk_tool)passing.tool)) {
		stop_taking(jobs);
		return false;
	}
	memcpy(files, CMSG_DATA(list), sizeof(files));
	pid = fork();
	if (!pid) {
		take_files(files, server);
		return true;
	}
	if (pid > 0) {
		setpgid(pid, pid);
		serving[serving_count++] = (struct serving){ pid, files[LIFE] };
	}
	for (int i = 0; i < FILES; i++)
		if (pid < 0 || i != LIFE)
			close(files[i]);
	return false;
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < serving_count; i++)
			if (serving[i].pid == pid) {
				send(serving[i].life, &status, sizeof(status), MSG_NOSIGNAL);
				close(serving[i].life);
				serving[i] = serving[--serving_count];
				break;
			}
}

/* What the program says of a job; if it says nothing any more, it has no use for it. */
static void heed(struct serving *job)
{
	unsigned char number = SIGKILL;

	if (LC_AGAIN(read(job->life, &number, sizeof(number))) != 1) {
		number = SIGKILL;
		close(job->life);
		job->life = -1;
	}
	kill(-job->pid, number);
}

void lk_serve(void)
{
	enum { CHILD_ENDED, COMES, PROGRAM_ENDED, LIVES };
	struct pollfd files[LIVES + JOBS];
	const pid_t program = getppid();
	const int end = (int)syscall(PIDFD_OPEN, program, 0);	/* from Linux 5.3 on */
	sigset_t ended;
	int jobs;

	if (end < 0 || getppid() != program || fork())
		_exit(0);
	jobs = fcntl(LK_CHILD_JOB, F_DUPFD_CLOEXEC, LK_CHILD_FILES);
	for (int i = 0; i < LK_CHILD_FILES; i++)	/* those of the children */
		dup2(LK_CHILD_OUTPUT, i);
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	files[CHILD_ENDED].fd = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	for (;;) {
		char seen[sizeof(struct signalfd_siginfo)];

		/* Jobs that wait here see that nobody takes them, and are done without a server. */
		if (serving_count == JOBS)
			stop_taking(&jobs);
		if (jobs < 0 && !serving_count)
			_exit(0);
		for (size_t i = 0; i < serving_count; i++)
			files[LIVES + i].fd = serving[i].life;
		files[COMES].fd = jobs;
		files[PROGRAM_ENDED].fd = end;
		for (size_t i = 0; i < LIVES + serving_count; i++)
			files[i].events = POLLIN, files[i].revents = 0;
		if (!poll(files, LIVES + (nfds_t)serving_count, serving_count ? -1 : IDLE_MS) ||
		    files[PROGRAM_ENDED].revents)
			_exit(0);	/* and with it its children */
		/* Those of the children first: reap() moves them. */
		for (size_t i = 0; i < serving_count; i++)
			if (files[LIVES + i].revents)
				heed(&serving[i]);
		if (read(files[CHILD_ENDED].fd, seen, sizeof(seen)) > 0)
			reap();
		if (files[COMES].revents && take_job(&jobs))
			return;
	}
}
