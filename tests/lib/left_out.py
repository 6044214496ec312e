# SPDX-License-Identifier: MIT
"""What `make test` leaves to `make test-all`, and that to `make test-release`.

A test of the default shows a behaviour once, on the fewest real libraries that prove it.
What needs more than that is marked here, or where it is defined, by what it needs:
pytest.ini has the words.  `make test-all` leaves out what is marked `release`.
"""
import functools
import re

# What they need, and the beginnings of their names: rows() says how.  Behind `but:` stands a
# regular expression of cases that the default runs all the same.
TABLE = r"""
release
    # Thousands of links by the real nvJitLink, of every version.
    versions/test_real.py agreement/test_containers.py
    agreement/test_ damage.py::test_what_is_damaged_does_no_harm shapes.py::test_what_becomes_of_links
    agreement/test_ shapes.py::test_what_nvjitlink_writes other_compilers.py::test_what_others_write
    # The whole library, built so that every string is an allocation.
    plan/test_purity.py::test_without_memory_there_is_no_plan_and_no_crash
    # Long for what they are: `make bench`, `make release`.
    growth/test_growth.py
    wheels/test_release.py::test_in_another_folder_it_is_the_same_bytes
    install/test_tree.py::test_two_builds_in_two_folders_are_the_same_bit_for_bit
    # With all versions, as `make check-symbols`.
    scan/test_real.py::test_symbols_txt_is_what_scan_derives
    # Every compiler, flag, place and kind: others take one.
    gen/test_machine_code.py::test_whatever_cflags_say but:.*-O0
    gen/test_machine_code.py::test_every_kind_of_argument but:(?!aarch64-clang-).*
    gen/test_links.py::test_a_compat_stub_has_one_majors_names_as_defaults but:(gcc|clang|aarch64-gcc)-.*
    own_library/test_real.py but:curand|
network
    wheels/test_projects.py retarget_wheels/test_frozen.py upkeep/test_components.py
    python/test_pathfinder.py peers/test_peers.py
    toolkit/test_build_systems.py::test_every_ cmake meson
    docs/test_outputs.py::test_the_commands_of_ the_example_of_a_wheel the_page_on_wheels
wheels
    docs/test_outputs.py::test_a_published_wheel
    retarget_wheels/test_published.py::test_ used used_without_a_driver_and_with_one
    retarget_wheels/test_published.py::test_what_puts_jumps_into_the_drivers_functions_has_to_have_the_driver
minute
    # Whole builds, by compilers or with flags that nothing else is built with.
    aarch64/test_aarch64.py aarch64/test_wheel.py
    packages/test_ conda.py debian.py rpm.py
    hardening/test_hardening.py::test_distributions_flags_are_kept
    hardening/test_hardening.py::test_every_entry_has_a_landing_pad_ for_bti for_cet
    install/test_pkgconfig.py::test_the_builder_of_lazycuda_may_have_chosen_one
    install/test_manual.py::test_it_is_the_same_where_letters_have_other_capitals
    install/test_tree.py::test_a_ program_for_a_soversion_runs soversion_is_in_every_name_that_is_recorded
    linking/test_linking.py::test_the_builder_may_choose_an_abi
    retarget_wheels/test_numbered.py years_ahead/test_next_major.py
    wheels/test_release.py::test_it_is_for_manylinux2014
    wheels/test_release.py::test_ its_libraries_are_what_a_build_with_gcc_makes the_commands_of_the_page
    wheels/test_release.py::test_the_sdist_holds_what_is_needed_and_nothing_made
    machines/test_folder_names.py::test_make_works_there notes/test_notes.py::test_it_survives_the_linker
    own_library/test_stubs_under_real_names.py::test_none_is_made_where_the_list_says_so
    wheels/test_package.py::test_ it_is_tagged_for_the_machine_of_what_is_in_it
    wheels/test_package.py::test_ without_flags_it_is_as_small_as_a_release the_stub_of_a_driver_is_taken_in_by_auditwheel_and_finds_it
    # Stubs as one C file, compiled once more for each: the default takes one object for all.
    embed/test_embed.py::test_it_compiles_without_a_warning_and_is_hidden but:-O0
    embed/test_embed.py::test_a_ program_without_position_independent_code programs_thread_sanitizer_finds_no_race
    embed/test_embed.py::test_ two_archives_in_one_program fifty_copies five_functions_are_small
    embed/test_embed.py::test_it_runs_on_other_majors but:13-.*
    embed/test_embed.py::test_it_takes_the_functions_that_a_file_needs but:.*cudaMalloc
    docs/test_outputs.py::test_what_a_page_shows_is_what_happens but:(?!docs/embed\.md).*
    # Device code by three nvrtc, and a hundred programs; thousands of links by the real nvJitLink.
    gpu/test_bundle.py agreement/test_mixed.py agreement/test_random.py
    agreement/test_other_compilers.py::test_what_one_of_them_writes
    device_code/test_image.py::test_ no_healthy_image_is_called_wrong an_image_that_is_none
    # Long for what they are: `make fuzz`, `make bench`.
    retarget_wheels/test_archive.py::test_large_members_are_not_held_in_memory
    bench/test_bench.py::test_every_row_is_measured_or_says_why_not
    fuzz/test_fuzz.py
    isolation/test_isolation.py::test_eight_threads_whose_linkers_end_in_each_way
    # Files of an unlikely size, and tables of an unlikely length.
    audit/test_audit.py::test_a_very_large_member_ is_not_held_in_memory where_no_file_may_hold_it
    hostile/test_archives.py::test_ a_bomb names_of_an_unlikely_length
    hostile/test_tables.py::test_ many_program_headers as_many_version_needs_as_an_index_can_tell
    gen/test_list.py::test_more_than_a_stub_can_count
    retarget_wheels/test_wheels.py::test_a_variable_that_a_stub_cannot_serve but:.*-0
    retarget_wheels/test_failures.py::test_what_it_spoils_is_noticed but:(?!while).*
    # Installed, or made, once more: another test of the same folder shows it on less.
    install/test_tree.py::test_an_installation_made_twice_is_taken_away_once
    install/test_tree.py::test_a_ folder_variable_of_the_environment_does_not_count place_has_one_spelling
    install/test_tree.py::test_the_module_and_the_rest_find_each_other_in_a_moved_tree
    install/test_tree.py::test_v_1_shows_how_each_file_is_installed
    install/test_cmake.py::test_each_other_library install/test_pkgconfig.py::test_each_other_library
    libraries/test_real_names.py::test_ uninstall_where_nothing_is_built the_folder_of_a_cuda_has_all_its_sonames
    libraries/test_retargeted.py::test_every_library_in_one_file
    own_library/test_audit_with_a_stub.py::test_an_interface_that_changed_within_a_major
    own_library/test_building_with_a_stub.py::test_pkg_config_ for_each_major guesses_no_major where_there_is_a_single_one
    own_library/test_calls_of_a_stub.py::test_beside_stubs_of_other_sources
    toolkit/test_folder.py::test_an_archive_that_is_not_installed_takes_a_compiler
    wheels/test_package.py::test_from_the_tree_with_pip
    # What maintainers run.
    upkeep/test_trials.py
    # Every way that a user may have it: the default takes one or two.
    driver/test_debian.py::test_every_function_answers_as_it_does_directly but:nvml
    install/test_cmake.py::test_the_runtime_that_nvcc_code_is_linked_with but:first
versions
    # Every version: the default takes one or two.
    audit/test_verdicts.py but:.*-(11\.8|12\.9|13\.0|13\.5)
    device_code/test_image.py::test_a_symbol_that_was_asked_for_and_is_not_there but:13\.5
    handle/test_real.py::test_every_kind_of_input_becomes_an_image but:13\.5-.*
    llvm_ir/test_llvm_ir.py::test_a_kernel_that_calls_libdevice but:.*-13\.5
    llvm_ir/test_llvm_ir.py::test_without_a_data_layout but:.*-13\.5
    libraries/test_every_function.py::test_on_a_library but:(cublas|cufft|cusparse|nvjpeg)-.*|.*-(\d+)-\2
    scan/test_real.py::test_real_libraries_are_as_listed
    real/test_answers.py::test_every_function_answers_as_the_real_one but:13\.5-.*
    linking/test_every_name.py but:.*-(11\.8|12\.9|13\.5)
    matrix/test_matrix.py::test_every_call_does_what_it_says but:.*-(11\.8|12\.9|13\.5)
    # For one version, and only there.
    real/test_compile.py::test_an_object_of_12_4_on_12_3
"""


def rows(table):
    """(heading, how a test's name begins, *what stands behind `but:`).  A line whose first word ends
    in _, - or [ has names that begin with that word."""
    for line in table.splitlines():
        if not line.startswith(" "):
            heading = line
        elif not line.lstrip().startswith("#"):
            first, *more = line.split()
            kept = [word[4:] for word in more if word.startswith("but:")]
            more = more[:len(more) - len(kept)]
            many = first.endswith(("_", "[", "-")) and more
            for word in more if many else (first, *more):
                yield heading, f"{first}{word}" if many else word, *kept


LEFT_OUT = [(start, need, *kept) for need, start, *kept in rows(TABLE)]
NEEDS = ("release", "network", "wheels", "minute", "versions")
# Of a test with real libraries: the parameters that name their versions.
VERSIONS = ("version", "producer", "linker", "linked_with", "built_for")


def begins(name, start):
    return name.startswith(start) and (
        start.endswith("/") or not re.match(r"\w", name[len(start):]))


@functools.lru_cache(maxsize=None)
def about(file):
    """The entries about tests of this file."""
    return [entry for entry in LEFT_OUT if file.startswith(entry[0].partition("::")[0])]


def need(name):
    """What the table says of a test, or None.  `name` as pytest gives it."""
    case = name.partition("[")[2][:-1]
    for start, what, *kept in about(name.partition("::")[0]):
        if begins(name, start) and not any(re.fullmatch(one, case) for one in kept):
            return what
    return None


def wants_a_version(item, versions):
    """Whether a test is for a real CUDA of these versions."""
    asked = getattr(item, "callspec", None)
    return bool(asked) and "real" in item.fixturenames and any(
        asked.params.get(name) in versions for name in VERSIONS)
