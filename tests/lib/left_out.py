# SPDX-License-Identifier: MIT
"""What `make test` leaves to `make test-all`, and that to `make test-release`.

A test of the default shows a behaviour once, on the fewest real libraries that prove it.
What needs more than that is marked here, or where it is defined, by what it needs:
pytest.ini has the words.  `make test-all` leaves out what is marked `release`.
"""
import re

# (how the tests' names begin, what they need, which cases the default runs all the same:
# regular expressions)
LEFT_OUT = [
    # Thousands of links by the real nvJitLink, of every version.
    ("versions/test_real.py", "release"),
    ("agreement/test_containers.py", "release"),
    # The whole library, built so that every string is an allocation.
    ("plan/test_purity.py::test_without_memory_there_is_no_plan_and_no_crash", "release"),
    ("agreement/test_damage.py::test_what_is_damaged_does_no_harm", "release"),
    ("agreement/test_shapes.py::test_what_becomes_of_links", "release"),
    ("agreement/test_shapes.py::test_what_nvjitlink_writes", "release"),
    ("agreement/test_other_compilers.py::test_what_others_write", "release"),
    # Long for what they are: `make fuzz`, `make bench`, `make release`.
    ("fuzz/test_fuzz.py::test_a_short_run_finds_nothing", "release"),
    ("growth/test_growth.py", "release"),
    ("wheels/test_release.py::test_in_another_folder_it_is_the_same_bytes", "release"),
    ("install/test_tree.py::test_two_builds_in_two_folders_are_the_same_bit_for_bit", "release"),

    # What is downloaded is downloaded for these alone.
    ("wheels/test_projects.py", "network"),
    ("docs/test_outputs.py::test_the_commands_of_the_example_of_a_wheel", "network"),
    ("docs/test_outputs.py::test_the_commands_of_the_page_on_wheels", "network"),
    ("docs/test_outputs.py::test_a_published_wheel", "wheels"),
    ("retarget_wheels/test_frozen.py", "network"),
    ("retarget_wheels/test_published.py::test_used", "wheels"),
    ("retarget_wheels/test_published_driver.py::test_used_without_a_driver_and_with_one", "wheels"),
    ("retarget_wheels/test_published_driver.py::"
     "test_what_puts_jumps_into_the_drivers_functions_has_to_have_the_driver", "wheels"),

    # Whole builds, by compilers or with flags that nothing else is built with.
    ("aarch64/test_aarch64.py", "minute"),
    ("aarch64/test_wheel.py", "minute"),
    ("hardening/test_hardening.py::test_distributions_flags_are_kept", "minute"),
    ("hardening/test_hardening.py::test_every_entry_has_a_landing_pad_for_bti", "minute"),
    ("hardening/test_hardening.py::test_every_entry_has_a_landing_pad_for_cet", "minute"),
    ("install/test_pkgconfig.py::test_the_builder_of_lazycuda_may_have_chosen_one", "minute"),
    ("install/test_tree.py::test_a_program_for_a_soversion_runs", "minute"),
    ("install/test_tree.py::test_a_soversion_is_in_every_name_that_is_recorded", "minute"),
    ("linking/test_linking.py::test_the_builder_may_choose_an_abi", "minute"),
    ("retarget_wheels/test_numbered.py", "minute"),
    ("packages/test_conda.py", "minute"),
    ("packages/test_debian.py", "minute"),
    ("packages/test_rpm.py", "minute"),
    ("wheels/test_driver.py", "minute"),
    ("wheels/test_release.py::test_it_is_for_manylinux2014", "minute"),
    ("wheels/test_release.py::test_its_libraries_are_what_a_build_with_gcc_makes", "minute"),
    ("wheels/test_release.py::test_nothing_else_is_in_the_folder", "minute"),
    ("wheels/test_release.py::test_the_commands_of_the_page", "minute"),
    ("wheels/test_release.py::test_the_sdist_holds_what_is_needed_and_nothing_made", "minute"),
    ("machines/test_folder_names.py::test_make_works_there", "minute"),
    ("notes/test_notes.py::test_it_survives_the_linker", "minute"),
    ("own_library/test_stubs_under_real_names.py::test_none_is_made_where_the_list_says_so", "minute"),
    ("wheels/test_package.py::test_it_is_tagged_for_the_machine_of_what_is_in_it", "minute"),
    ("wheels/test_package.py::test_without_flags_it_is_as_small_as_a_release", "minute"),
    ("years_ahead/test_next_major.py", "minute"),
    # Device code by three nvrtc, and a hundred programs.
    ("gpu/test_bundle.py", "minute"),
    # Thousands of links by the real nvJitLink.
    ("agreement/test_agreement.py", "minute"),
    ("agreement/test_mixed.py", "minute"),
    # Long for what they are: `make fuzz`, `make bench`.
    ("retarget_wheels/test_archive.py::test_large_members_are_not_held_in_memory", "minute"),
    ("bench/test_bench.py::test_every_row_is_measured_or_says_why_not", "minute"),
    ("scan/test_real.py::test_symbols_txt_is_what_scan_derives", "minute"),
    ("fuzz/test_fuzz.py::test_the_corpus_comes_to_every_reader_of_cubins", "minute"),

    # Every version: the default takes one or two.
    ("audit/test_verdicts.py", "versions", r".*-(11\.8|12\.9|13\.0|13\.5)"),
    ("device_code/test_image.py::test_a_symbol_that_was_asked_for_and_is_not_there", "versions",
     r"13\.5"),
    ("device_code/test_image.py::test_no_healthy_image_is_called_wrong", "versions", r"13\.5"),
    ("handle/test_real.py::test_every_kind_of_input_becomes_an_image", "versions", r"13\.5-.*"),
    ("llvm_ir/test_llvm_ir.py::test_a_kernel_that_calls_libdevice", "versions", r".*-13\.5"),
    ("llvm_ir/test_llvm_ir.py::test_without_a_data_layout", "versions", r".*-13\.5"),
    ("scan/test_real.py::test_real_libraries_are_as_listed", "versions", r"13\.5-.*"),
    ("linking/test_every_name.py", "versions", r".*-(11\.8|12\.9|13\.5)"),
    ("matrix/test_matrix.py::test_every_call_does_what_it_says", "versions",
     r".*-(11\.8|12\.9|13\.5)"),

    # Every way that a user may have it: the default takes one or two.
    ("driver/test_debian.py::test_every_function_answers_as_it_does_directly", "minute", "nvml"),
    ("install/test_cmake.py::test_the_runtime_that_nvcc_code_is_linked_with", "minute", "first"),
    ("isolation/test_isolation.py::test_eight_threads_whose_linkers_end_in_each_way", "minute",
     "plain"),

    # Every compiler, flag, place and kind: others take one.
    ("gen/test_machine_code.py::test_whatever_cflags_say", "release", r".*-O0"),
    ("gen/test_calls.py::test_every_kind_of_argument", "release", r"(?!aarch64-clang-).*"),
    ("gen/test_links.py::test_a_compat_stub_has_one_majors_names_as_defaults", "release",
     r"(gcc|clang|aarch64-gcc)-.*"),
    ("inspection/test_damaged.py::test_a_field_that_lies", "release", "ptx", "cubin", "ltoir"),
    ("own_library/test_real.py", "release", r"curand|"),

    # For one version, and only there.
    ("real/test_compile.py::test_an_object_of_12_4_on_12_3", "versions"),
]
NEEDS = ("release", "network", "wheels", "minute", "versions")
# Of a test with real libraries: the parameters that name their versions.
VERSIONS = ("version", "producer", "linker", "linked_with", "built_for")


def begins(name, start):
    return name.startswith(start) and (
        start.endswith("/") or not re.match(r"\w", name[len(start):]))


def need(name):
    """What the table says of a test, or None.  `name` as pytest gives it."""
    case = name.partition("[")[2][:-1]
    for start, what, *kept in LEFT_OUT:
        if begins(name, start) and not any(re.fullmatch(one, case) for one in kept):
            return what
    return None


def wants_a_version(item, versions):
    """Whether a test is for a real CUDA of these versions."""
    asked = getattr(item, "callspec", None)
    return bool(asked) and "real" in item.fixturenames and any(
        asked.params.get(name) in versions for name in VERSIONS)
