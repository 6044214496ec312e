/* SPDX-License-Identifier: MIT */
/* abi_0_1.c - where the fields of both headers were in 0.1, for ever (docs/reference/versioning.md) */
#include "../../include/lazycuda.h"
#include "../../include/lazycuda_link.h"

#define AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define GROWS(type, least) _Static_assert(sizeof(struct type) >= (least), #type)
#define STAYS(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)

AT(lazycuda_candidate, path, 0);
AT(lazycuda_candidate, version, 8);
AT(lazycuda_candidate, found_by, 16);
AT(lazycuda_candidate, reason, 24);
AT(lazycuda_candidate, taken, 32);
STAYS(lazycuda_candidate, 40);	/* Callers step through an array of these. */

AT(lazycuda_status, size, 0);
AT(lazycuda_status, library, 8);
AT(lazycuda_status, state, 16);
AT(lazycuda_status, cause, 20);
AT(lazycuda_status, major, 24);
AT(lazycuda_status, minor, 28);
AT(lazycuda_status, version, 32);
AT(lazycuda_status, path, 40);
AT(lazycuda_status, found_by, 48);
AT(lazycuda_status, reason, 56);
AT(lazycuda_status, candidates, 64);
AT(lazycuda_status, candidate_count, 72);
GROWS(lazycuda_status, 80);

AT(lazycuda_driver, size, 0);
AT(lazycuda_driver, version, 8);
AT(lazycuda_driver, branch, 12);
STAYS(lazycuda_driver, 16);	/* Returned by value. */

AT(lazycuda_error, size, 0);
AT(lazycuda_error, cause, 8);
AT(lazycuda_error, status, 12);
AT(lazycuda_error, library, 16);
AT(lazycuda_error, function, 24);
AT(lazycuda_error, message, 32);
GROWS(lazycuda_error, 40);

AT(lazycuda_symbol, name, 0);
AT(lazycuda_symbol, hash, 8);
AT(lazycuda_symbol, defined, 12);
AT(lazycuda_symbol, weak, 13);
AT(lazycuda_symbol, kernel, 14);
STAYS(lazycuda_symbol, 16);	/* Callers step through an array of these. */

AT(lazycuda_entry, size, 0);
AT(lazycuda_entry, kind, 8);
AT(lazycuda_entry, arch, 12);
AT(lazycuda_entry, suffix, 16);
AT(lazycuda_entry, toolkit, 20);
AT(lazycuda_entry, isa, 24);
AT(lazycuda_entry, level, 28);
AT(lazycuda_entry, container, 32);
AT(lazycuda_entry, ir, 36);
AT(lazycuda_entry, debug, 40);
AT(lazycuda_entry, llvm, 44);
AT(lazycuda_entry, abi, 48);
AT(lazycuda_entry, flags, 52);
AT(lazycuda_entry, error, 56);
AT(lazycuda_entry, member, 64);
AT(lazycuda_entry, section, 72);
AT(lazycuda_entry, fatbin, 80);
AT(lazycuda_entry, header, 88);
AT(lazycuda_entry, offset, 96);
AT(lazycuda_entry, length, 104);
AT(lazycuda_entry, unpacked, 112);
AT(lazycuda_entry, symbols, 120);
AT(lazycuda_entry, symbol_count, 128);
GROWS(lazycuda_entry, 136);

AT(lazycuda_inspection, size, 0);
AT(lazycuda_inspection, kind, 8);
AT(lazycuda_inspection, name, 16);
AT(lazycuda_inspection, error, 24);
AT(lazycuda_inspection, warning, 32);
AT(lazycuda_inspection, entries, 40);
AT(lazycuda_inspection, entry_count, 48);
AT(lazycuda_inspection, fatbin_count, 56);
AT(lazycuda_inspection, length, 64);
GROWS(lazycuda_inspection, 72);

AT(lazycuda_environment, size, 0);
AT(lazycuda_environment, driver, 8);
AT(lazycuda_environment, branch, 12);
AT(lazycuda_environment, nvjitlink, 16);
AT(lazycuda_environment, nvrtc, 20);
STAYS(lazycuda_environment, 24);	/* Returned by value. */

AT(lazycuda_input, size, 0);
AT(lazycuda_input, kind, 8);
AT(lazycuda_input, name, 16);
AT(lazycuda_input, bytes, 24);
AT(lazycuda_input, length, 32);
AT(lazycuda_input, path, 40);
AT(lazycuda_input, flags, 48);
AT(lazycuda_input, needs, 56);
AT(lazycuda_input, setup, 64);
AT(lazycuda_input, teardown, 72);
AT(lazycuda_input, data, 80);
AT(lazycuda_input, inspection, 88);
GROWS(lazycuda_input, 96);

AT(lazycuda_support, size, 0);
AT(lazycuda_support, name, 8);
AT(lazycuda_support, enabled, 16);
AT(lazycuda_support, functions, 24);
AT(lazycuda_support, function_count, 32);
AT(lazycuda_support, input, 40);
GROWS(lazycuda_support, 48);

AT(lazycuda_request, size, 0);
AT(lazycuda_request, arch, 8);
AT(lazycuda_request, lto, 16);
AT(lazycuda_request, output, 20);
AT(lazycuda_request, policy, 24);
AT(lazycuda_request, flags, 28);
AT(lazycuda_request, options, 32);
AT(lazycuda_request, option_count, 40);
AT(lazycuda_request, compile_options, 48);
AT(lazycuda_request, compile_option_count, 56);
AT(lazycuda_request, symbols, 64);
AT(lazycuda_request, symbol_count, 72);
AT(lazycuda_request, support, 80);
AT(lazycuda_request, support_count, 88);
AT(lazycuda_request, constraint, 96);
AT(lazycuda_request, device, 104);
GROWS(lazycuda_request, 112);

AT(lazycuda_step, size, 0);
AT(lazycuda_step, input, 8);
AT(lazycuda_step, support, 16);
AT(lazycuda_step, entry, 24);
AT(lazycuda_step, form, 32);
AT(lazycuda_step, kind, 36);
AT(lazycuda_step, name, 40);
AT(lazycuda_step, reason, 48);
GROWS(lazycuda_step, 56);

AT(lazycuda_jit_option, option, 0);
AT(lazycuda_jit_option, value, 4);
AT(lazycuda_jit_option, name, 8);
STAYS(lazycuda_jit_option, 16);	/* Callers step through an array of these. */

AT(lazycuda_plan, size, 0);
AT(lazycuda_plan, backend, 8);
AT(lazycuda_plan, code, 12);
AT(lazycuda_plan, rule, 16);
AT(lazycuda_plan, input, 24);
AT(lazycuda_plan, have, 32);
AT(lazycuda_plan, need, 40);
AT(lazycuda_plan, message, 48);
AT(lazycuda_plan, lto, 56);
AT(lazycuda_plan, options, 64);
AT(lazycuda_plan, option_count, 72);
AT(lazycuda_plan, jit_options, 80);
AT(lazycuda_plan, jit_option_count, 88);
AT(lazycuda_plan, compile_options, 96);
AT(lazycuda_plan, compile_option_count, 104);
AT(lazycuda_plan, compile_to, 112);
AT(lazycuda_plan, steps, 120);
AT(lazycuda_plan, step_count, 128);
AT(lazycuda_plan, notes, 136);
AT(lazycuda_plan, note_count, 144);
GROWS(lazycuda_plan, 152);

AT(lazycuda_combination, size, 0);
AT(lazycuda_combination, driver, 8);
AT(lazycuda_combination, branch, 12);
AT(lazycuda_combination, cudart, 16);
AT(lazycuda_combination, nvrtc, 20);
AT(lazycuda_combination, nvjitlink, 24);
AT(lazycuda_combination, carries, 28);
AT(lazycuda_combination, policy, 32);
AT(lazycuda_combination, flags, 36);
AT(lazycuda_combination, constraint, 40);
GROWS(lazycuda_combination, 48);

AT(lazycuda_result, size, 0);
AT(lazycuda_result, code, 8);
AT(lazycuda_result, message, 16);
AT(lazycuda_result, input, 24);
AT(lazycuda_result, plan, 32);
AT(lazycuda_result, image, 40);
AT(lazycuda_result, image_length, 48);
AT(lazycuda_result, info_log, 56);
AT(lazycuda_result, error_log, 64);
AT(lazycuda_result, backend_call, 72);
AT(lazycuda_result, backend_status, 80);
GROWS(lazycuda_result, 88);

AT(lazycuda_symbol_error, size, 0);
AT(lazycuda_symbol_error, name, 8);
AT(lazycuda_symbol_error, twice, 16);
AT(lazycuda_symbol_error, input, 24);
AT(lazycuda_symbol_error, other, 32);
GROWS(lazycuda_symbol_error, 40);

AT(lazycuda_lowered_name, size, 0);
AT(lazycuda_lowered_name, input, 8);
AT(lazycuda_lowered_name, expression, 16);
AT(lazycuda_lowered_name, name, 24);
GROWS(lazycuda_lowered_name, 32);

int main(void)
{
	return 0;
}
