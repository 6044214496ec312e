# SPDX-License-Identifier: MIT
"""What means nothing under a sanitizer, and why."""

MACHINE_CODE = "it looks at machine code, which sanitizers change"
SHIPPED = "it looks at what is shipped, and this is not"
OTHER_BUILD = "it builds the project another way"
OWN = "it has sanitizers of its own, in every run"
FIGURES = "it measures what sanitizers change"
NOT_C = "what it tests is not written in C"
MALLOC = "it has a malloc() of its own, and so has the sanitizer"
ODD_ARGUMENTS = "it gives real functions what makes them crash"
UNLOADED = "a real library that is unloaded leaves memory behind"
TRACED = "who looks for leaks traces the program, which it may not do with this one"
CLOSED = "exit handlers of a library that is closed are called when it is gone"
CALLS = "it counts what is called, and the sanitizer calls for itself"
CONFINED = "sanitizers open files and map memory themselves"
FORKED = "a fork() may leave the sanitizer's own allocator locked in the child"
JUMPS = "an entry reads its slot by a jump, which the sanitizer takes for no atomic read"
COROUTINE = "the sanitizer does not know stacks that a program has made"
STATIC = "sanitizers are not for static programs"
TWICE = "a process can have the sanitizer once, and before all else"
ASKED = "dlopen() is the sanitizer's own, and is asked what else it finds"
ORIGIN = "dlopen() is the sanitizer's own, and so is $ORIGIN"
TOLD_BY_ENVIRONMENT = "the sanitizer is told by the environment, which is empty"
LOADED_HERE = "pytest itself would have to be sanitized"
ADDRESSES = "it wants addresses for itself, and so does the sanitizer"
# Before LLVM 17 and its like in gcc nobody took that lock before a fork.
LOCKED = "the sanitizer's allocator may stay locked in a child of fork()"

EARLY = "an IFUNC's resolver runs before the sanitizer is set up"
CANCELLED = "a thread that is cancelled in what the sanitizer intercepts never leaves it"
CHILD_OF_THREADS = "it ends a child of a process with threads that starts a thread"
LATE_SIGNALS = "it hands a signal on when the program calls libc, and the program waits without"
LEFT = "a call that is left by longjmp() loses its memory, and frames are others"

INTERPOSED = "it puts functions of its own in place of those that the sanitizer replaces"

MAIN = "it waits for the main thread, or counts what that has left behind"

ALREADY = "the limit is added to what the worker has, and the sanitizer has more than tileiras needs"

TWO = "what watches a program, valgrind too, watches it alone"

TOLD = "its programs crash, race and use memory up, which is told by the sanitizer"
COMPILERS = "its time goes into NVIDIA's compilers; other tests read what these write"
ONE_THREAD = "it runs in one thread"

# (how the test's name begins, the reason, under which: every one if none is named)
SKIPPED = [
    ("aarch64/", OTHER_BUILD),
    ("agreement/test_other_compilers.py::test_what_others_write", COMPILERS),
    ("agreement/test_agreement.py::test_every_architecture_for_every_target", COMPILERS),
    ("agreement/test_shapes.py", COMPILERS),
    *[(f"{folder}/", ONE_THREAD, "thread") for folder in (
        "agreement", "audit", "broken", "choice", "device_code", "faults", "ldcache", "linking",
        "plan", "progress", "versions")],
    *[(f"{folder}/test_{file}.py", ONE_THREAD, "thread") for folder, file in (
        ("hostile", "names"), ("hostile", "places"), ("libraries", "every_function"),
        ("libraries", "one_cuda"), ("own_library", "stubs_under_real_names"),
        ("search", "places"))],
    *[(f"inspection/test_{file}.py", ONE_THREAD, "thread") for file in (
        "damaged", "fatbins", "files", "hosts", "kinds", "real", "unpackers")],
    ("bench/", FIGURES),
    ("compat/", OTHER_BUILD),
    ("device_code/test_image.py", COMPILERS),
    *[(f"direct/test_direct.py::test_situation[a-first-call-after-{what}", CONFINED)
      for what in ("chroot", "memory", "nofile")],
    ("direct/test_direct.py::test_situation[memory-runs-short-and-comes-back", CONFINED),
    ("direct/test_direct.py::test_situation[the-first-call-in-a-small-", COROUTINE),
    ("direct/test_direct.py::test_situation[a-thread-goes-on-during-exit", JUMPS, "thread"),
    ("direct/test_direct.py::test_situation[the-process-ends-in-a-thread's-first-call,-by-a-thread's",
     CHILD_OF_THREADS, "thread"),
    ("direct/test_direct.py::test_situation[the-process-ends-in-a-thread's-first-call,-by-a-thread's",
     MAIN, "address"),
    ("direct/test_direct.py::test_situation[the-program-has-kept-the-list", INTERPOSED, "thread"),
    ("direct/test_direct.py::test_situation[a-plugin-is-closed", CLOSED, "address"),
    ("direct/test_direct.py::test_situation[an-auditor-wraps", TWICE),
    ("direct/test_direct.py::test_situation[malloc()-is-a-collector", MALLOC),
    *[(f"direct/test_direct.py::test_situation[a-preloaded-{function}()", INTERPOSED)
      for function in ("dlsym", "dlinfo", "mprotect", "open", "__lxstat")],
    ("direct/test_direct.py::test_situation[a-signal-handler-leaves", LEFT),
    ("direct/test_direct.py::test_situation[a-signal-handler-within", LATE_SIGNALS, "thread"),
    ("direct/test_direct.py::test_situation[the-process-is-copied", LOCKED),
    ("direct/test_direct.py::test_situation[the-main-thread-has-ended", MAIN),
    *[(f"direct/test_direct.py::test_situation[a-{how}-program", STATIC) for how in ("static", "static-pie")],
    *[(f"direct/test_direct.py::test_situation[{tool}", TWO) for tool in ("proot", "valgrind")],
    ("direct/test_direct.py::test_situation[the-thread-sanitizer", TWO),
    ("direct/test_direct.py::test_situation[gdb", TWO),
    ("direct/test_direct.py::test_a_folder_is_called_like_a_token_of_ld_so[with_a_stub", ORIGIN),
    ("docs/", SHIPPED),
    ("driver/test_debian.py::test_every_function_answers_as_it_does_directly", ODD_ARGUMENTS,
     "address", "thread"),
    *[(f"driver/test_search.py::test_{test}", TWICE, "address", "thread") for test in (
        "what_the_loader_alone_can_find",
        "the_choice_is_for_a_driver_that_the_loader_alone_can_find")],
    ("driver/test_search.py::test_ld_so_is_asked_where_an_auditor_may_know_more", CALLS,
     "address", "thread"),
    ("examples/", OTHER_BUILD),
    ("exports/", MACHINE_CODE),
    ("fuzz/", OWN),
    ("gen/", OWN),
    ("handle/test_command.py::test_no_word_is_read_behind_its_end", TOLD_BY_ENVIRONMENT, "address"),
    ("handle/test_faults.py::test_every_allocation_may_fail", MALLOC, "address", "thread"),
    ("hardening/", SHIPPED),
    ("gpu/", OTHER_BUILD),
    ("install/", OTHER_BUILD),
    ("hostile/test_places.py::test_a_folder_that_everybody_can_write_to_and_an_auditor_leads_to",
     TWICE, "address", "thread"),
    ("hostile/test_privileged.py", TRACED, "address"),
    *[(f"hostile/test_outputs.py::test_{test}", NOT_C) for test in (
        "a_folder_for_parts_is_the_users_alone",
        "a_retargeted_file_has_the_rights_of_the_old_one",
        "an_output_replaces_a_link_and_does_not_follow_it")],
    *[(f"inspection/test_files.py::test_{test}", LOADED_HERE, "address", "thread") for test in (
        "a_file_that_is_cut_short_later_is_an_error_not_a_signal",
        "an_archive_is_read_in_blocks",
        "a_header_that_changes_later_is_not_believed")],
    ("inspection/test_files.py::test_a_large_file_is_read_at_its_headers_alone", ADDRESSES,
     "address", "thread"),
    ("inspection/test_memory.py::test_all_or_nothing_comes_when_memory_runs_out", MALLOC,
     "address", "thread"),
    ("libraries/test_real_names.py", OTHER_BUILD),
    ("libraries/test_retargeted.py", NOT_C),
    ("libraries/test_used_by_itself.py", "what is sanitized is the build of the five"),
    ("layout/", NOT_C),
    ("linking/test_linking.py::test_the_builder_may_choose_an_abi", OTHER_BUILD),
    ("llvm_ir/test_llvm_ir.py::test_how_it_ends_is_a_result", TOLD, "thread"),
    ("llvm_ir/test_tile_ir.py::test_its_memory_is_limited", ALREADY, "address"),
    ("load/", FIGURES),
    ("machines/test_folder_names.py", OTHER_BUILD),
    ("isolation/", TOLD, "thread"),
    ("isolation/test_isolation.py::test_the_command_isolates", "it shows a crash as it is",
     "address"),
    *[(f"locks/test_locks.py::test_{test}", TWICE, "address", "thread") for test in (
        "a_namespace", "an_audit_library", "deep_binding")],
    ("locks/test_locks.py::test_whatever_a_stub_calls_may_wait", MALLOC, "address", "thread"),
    ("matrix/test_matrix.py", ADDRESSES, "thread"),
    ("process/test_ifunc.py", EARLY, "address", "thread"),
    *[(f"registrations/test_meanwhile.py::test_{test}", LEFT, "address") for test in (
        "a_library_that_leaves_by_longjmp", "a_thread_that_never_comes_back_is_waited_for_once")],
    ("registrations/test_meanwhile.py::test_a_thread_is_cancelled", CANCELLED, "thread"),
    ("hidden/test_hidden.py::test_no_file_is_looked_for", CALLS, "thread"),
    ("missing/test_remembered.py::test_a_million_calls", CALLS),
    ("notes/", SHIPPED),
    ("own_library/test_building_with_a_stub.py", OTHER_BUILD),
    *[(f"own_library/test_{file}.py", ONE_THREAD, "thread") for file in (
        "kinds_of_libraries", "making_a_stub", "real")],
    ("own_library/test_retarget_to_a_stub.py", NOT_C),
    ("packages/", OTHER_BUILD),
    ("plan/test_purity.py", MALLOC, "address", "thread"),
    ("python/", LOADED_HERE, "address", "thread"),
    ("real/test_answers.py", ODD_ARGUMENTS),
    *[(f"registrations/test_registrations.py::test_{test}", CLOSED, "thread") for test in (
        "closing_an_extension_before_the_first_call_forgets_it",
        "closing_an_extension_after_the_first_call_unregisters_it",
        "registering_with_a_real_library")],
    ("releases/test_releases.py::test_what_one_found_out_is_for_its_own_release_alone", CALLS, "address",
     "thread"),
    ("retarget/", NOT_C),
    ("setup/", NOT_C),
    ("retarget_wheels/", NOT_C),
    ("sandbox/test_sandbox.py::test_the_environment_is_empty", TOLD_BY_ENVIRONMENT),
    ("sanitize/test_inputs.py::test_registrations", CLOSED, "thread"),
    ("scan/", OWN),
    ("search/test_known.py", CALLS, "address", "thread"),
    ("search/test_once.py", CALLS),
    ("search/test_places.py::test_below_a_folder_for_a_cpu_only_the_loaders_cache_counts", ASKED,
     "address", "thread"),
    ("states/test_states.py::test_the_page_shows_what_is_said[The-program-runs-setuid]", TRACED,
     "address"),
    ("suite/", NOT_C),
    ("threads/test_races.py::test_rounds[forks", FORKED, "thread"),
    ("threads/test_threads.py::test_fork_during_the_first_call", FORKED, "thread"),
    ("threads/test_threads.py::test_a_search_during_which_another_thread_loads", INTERPOSED,
     "address", "thread"),
    ("threads/test_threads.py::test_fork_during_the_first_call", LOCKED, "address"),
    ("threads/test_threads.py::test_fork_while_the_library_is_being_loaded", LOCKED, "address"),
    ("versions/test_real.py", COMPILERS),
    ("versions/test_toolkit.py::test_a_library_that_was_asked_is_not_left_loaded", UNLOADED,
     "address"),
    ("versions/test_toolkit.py::test_a_real_library_says_so_itself", UNLOADED, "address"),
    ("versions/test_toolkit.py::test_an_old_nvjitlink_tells_by_its_names", UNLOADED, "address"),
    ("wheels/", OTHER_BUILD),
    ("years_ahead/", OTHER_BUILD),
]


def reason(name, sanitizer):
    """Why a test is skipped, or None.  `name` as pytest gives it."""
    name = name.removeprefix("tests/").replace(" ", "-")
    for start, why, *which in SKIPPED:
        if name.startswith(start) and (not which or sanitizer in which):
            return why
    return None
