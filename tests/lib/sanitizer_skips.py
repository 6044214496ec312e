# SPDX-License-Identifier: MIT
"""What means nothing under a sanitizer, and why."""

from left_out import rows

# A reason, and the sanitizer if it is one's alone; then how the tests' names begin.
TABLE = """
it builds the project another way
    aarch64/ compat/ examples/ gpu/ install/ packages/ wheels/ years_ahead/
    libraries/test_real_names.py machines/test_folder_names.py
    linking/test_linking.py::test_the_builder_may_choose_an_abi
    own_library/test_building_with_a_stub.py
it looks at what is shipped, and this is not
    docs/ hardening/ notes/
it looks at machine code, which sanitizers change
    exports/
what is sanitized is the build of the five
    libraries/test_used_by_itself.py
what it tests is not written in C
    layout/ retarget_wheels/ setup/ suite/
    libraries/test_retargeted.py own_library/test_retarget_to_a_stub.py
    hostile/test_outputs.py::test_ a_folder_for_parts_is_the_users_alone
    hostile/test_outputs.py::test_ a_retargeted_file_has_the_rights_of_the_old_one
    hostile/test_outputs.py::test_ an_output_replaces_a_link_and_does_not_follow_it
it has sanitizers of its own, in every run
    fuzz/ gen/ scan/
    embed/test_embed.py::test_a_programs_thread_sanitizer_finds_no_race
its time goes into NVIDIA's compilers; other tests read what these write
    device_code/test_image.py versions/test_real.py
it measures what sanitizers change
    bench/ load/
it counts what is called, and the sanitizer calls for itself
    driver/test_search.py::test_ld_so_is_asked_where_an_auditor_may_know_more
    missing/test_remembered.py::test_a_million_calls search/test_known.py search/test_once.py
    releases/test_releases.py::test_what_one_found_out_is_for_its_own_release_alone
it counts what is called, and the sanitizer calls for itself: thread
    hidden/test_hidden.py::test_no_file_is_looked_for
it runs in one thread: thread
    audit/ broken/ choice/ device_code/ faults/ ldcache/ linking/ plan/ progress/ versions/
    hostile/test_ names.py places.py
    inspection/test_ damaged.py fatbins.py files.py hosts.py kinds.py laid_out.py offload.py real.py
    inspection/test_unpackers.py
    libraries/test_ every_function.py one_cuda.py
    own_library/test_ kinds_of_libraries.py making_a_stub.py real.py stubs_under_real_names.py
    search/test_places.py

it gives real functions what makes them crash
    driver/test_debian.py::test_every_function_answers_as_it_does_directly real/test_answers.py
its programs crash, race and use memory up, which is told by the sanitizer: thread
    llvm_ir/test_llvm_ir.py::test_how_it_ends_is_a_result isolation/
the sanitizer asks /proc, and a worker has libraries of two builds, which it takes for one: address
    isolation/test_isolation.py::test_ no_proc a_relative_path_and_another_current_folder
who looks for leaks guesses where libnvvm 12.9 has its thread-local variables, and reads elsewhere: address
    llvm_ir/test_llvm_ir.py::test_a_library_gives_what_is_called
it shows a crash as it is: address
    isolation/test_isolation.py::test_the_command_isolates
a real library that is unloaded leaves memory behind: address
    versions/test_toolkit.py::test_ a_library_that_was_asked_is_not_left_loaded
    versions/test_toolkit.py::test_ a_real_library_says_so_itself an_old_nvjitlink_tells_by_its_names

it has a malloc() of its own, and so has the sanitizer
    direct/test_direct.py::test_situation[malloc()-is-a-collector
    handle/test_faults.py::test_what_may_fail[memory plan/test_purity.py
    inspection/test_memory.py::test_all_or_nothing_comes_when_memory_runs_out
    locks/test_locks.py::test_whatever_a_stub_calls_may_wait
it puts functions of its own in place of those that the sanitizer replaces
    direct/test_direct.py::test_situation[a-preloaded- dlsym() dlinfo() mprotect() open() __lxstat()
    threads/test_threads.py::test_a_search_during_which_another_thread_loads
it puts functions of its own in place of those that the sanitizer replaces: thread
    direct/test_direct.py::test_situation[the-program-has-kept-the-list
    direct/test_direct.py::test_situation[ threads-come-into-a-fork a-registration-sets
it wants addresses for itself, and so does the sanitizer
    inspection/test_files.py::test_a_large_file_is_read_at_its_headers_alone
it wants addresses for itself, and so does the sanitizer: thread
    matrix/test_matrix.py
the limit is added to what the worker has, and the sanitizer has more than tileiras needs: address
    llvm_ir/test_tile_ir.py::test_its_memory_is_limited
sanitizers open files and map memory themselves
    direct/test_direct.py::test_situation[a-first-call-after- chroot memory nofile
    direct/test_direct.py::test_situation[memory-runs-short-and-comes-back

a process can have the sanitizer once, and before all else
    direct/test_direct.py::test_situation[an-auditor-wraps
    driver/test_search.py::test_what_the_loader_alone_can_find
    driver/test_search.py::test_the_choice_is_for_a_driver_that_the_loader_alone_can_find
    hostile/test_places.py::test_a_folder_that_everybody_can_write_to_and_an_auditor_leads_to
    locks/test_locks.py::test_ a_namespace an_audit_library deep_binding
pytest itself would have to be sanitized
    agreement/ python/
    inspection/test_files.py::test_ an_archive_is_read_in_blocks
    inspection/test_files.py::test_ a_file_that_is_cut_short_later_is_an_error_not_a_signal
    inspection/test_files.py::test_ a_header_that_changes_later_is_not_believed
the sanitizer is told by the environment, which is empty
    sandbox/test_sandbox.py::test_the_environment_is_empty
the sanitizer is told by the environment, which is empty: address
    handle/test_command.py::test_no_word_is_read_behind_its_end
an IFUNC's resolver runs before the sanitizer is set up
    process/test_ifunc.py
dlopen() is the sanitizer's own, as is $ORIGIN, and is asked what else it finds
    direct/test_direct.py::test_a_folder_is_called_like_a_token_of_ld_so[with_a_stub
    search/test_places.py::test_below_a_folder_for_a_cpu_only_the_loaders_cache_counts
sanitizers are not for static programs
    direct/test_direct.py::test_situation[a- static-program static-pie-program
what watches a program, valgrind too, watches it alone
    direct/test_direct.py::test_situation[ proot valgrind the-thread-sanitizer gdb
who looks for leaks traces the program, which it may not do with this one: address
    hostile/test_privileged.py
    states/test_states.py::test_the_page_shows_what_is_said[The-program-runs-setuid]

the sanitizer does not know stacks that a program has made
    direct/test_direct.py::test_situation[the-first-call-in-a-small-
an entry reads its slot by a jump, which the sanitizer takes for no atomic read: thread
    direct/test_direct.py::test_situation[a-thread-goes-on-during-exit
it ends a child of a process with threads that starts a thread: thread
    direct/test_direct.py::test_situation[the-process-ends-in-a-thread's-first-call,-by-a-thread's
it waits for the main thread, or counts what that has left behind
    direct/test_direct.py::test_situation[the-main-thread-has-ended
it waits for the main thread, or counts what that has left behind: address
    direct/test_direct.py::test_situation[the-process-ends-in-a-thread's-first-call,-by-a-thread's
it hands a signal on when the program calls libc, and the program waits without: thread
    direct/test_direct.py::test_situation[a-signal-handler-within
a call that is left by longjmp() loses its memory, and frames are others
    direct/test_direct.py::test_situation[a-signal-handler-leaves
a call that is left by longjmp() loses its memory, and frames are others: address
    registrations/test_meanwhile.py::test_ a_library_that_leaves_by_longjmp
    registrations/test_meanwhile.py::test_ a_thread_that_never_comes_back_is_waited_for_once
a thread that is cancelled in what the sanitizer intercepts never leaves it: thread
    registrations/test_meanwhile.py::test_a_thread_is_cancelled
exit handlers of a library that is closed are called when it is gone: address
    direct/test_direct.py::test_situation[a-plugin-is-closed
exit handlers of a library that is closed are called when it is gone: thread
    registrations/test_registrations.py::test_closing_an_extension_ before_the_first_call_forgets_it
    registrations/test_registrations.py::test_closing_an_extension_ after_the_first_call_unregisters_it
    registrations/test_registrations.py::test_registering_with_a_real_library
the sanitizer's own allocator may stay locked in a child of fork()
    direct/test_direct.py::test_situation[the-process-is-copied
the sanitizer's own allocator may stay locked in a child of fork(): thread
    threads/test_races.py::test_rounds[forks
"""


# (how the test's name begins, the reason, the sanitizer or "")
SKIPPED = [(start, *(why.rpartition(": ")[::2] if why.endswith((": thread", ": address")) else (why, "")))
           for why, start in rows(TABLE)]


def reason(name, sanitizer):
    """Why a test is skipped, or None.  `name` as pytest gives it."""
    name = name.removeprefix("tests/").replace(" ", "-")
    # The same programs, with the stub in them.
    name = name.replace("::test_situation_of_an_embedded_stub[", "::test_situation[")
    return next((why for start, why, which in SKIPPED
                 if name.startswith(start) and which in ("", sanitizer)), None)
