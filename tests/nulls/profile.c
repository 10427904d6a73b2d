/* profile.c: rvm_profile.h. */
#include "nulls.h"
#include "rvm_profile.h"

void try_profile(const rvm_machine *counting) {
    rvm_profile *f = (rvm_profile *)&e;
    rvm_profile_counts c;
    rvm_profile_kind_count kind;
    rvm_profile_path path;
    rvm_profile_recursion recursion;
    rvm_profile_function function;
    rvm_profile_line line;
    rvm_profile_memory memory;
    HARMLESS(rvm_profile_mode_name, mode, !strcmp(rvm_profile_mode_name((rvm_profile_mode)99), "?"));
    HARMLESS(rvm_profile_sum, c, !rvm_profile_sum(NULL));
    REFUSED(rvm_profile_new, m, NULL, &f, &e);
    REFUSED(rvm_profile_new, out, counting, NULL, &e);
    UNTOLD(rvm_profile_new, NULL, &f, NULL);
    if (rvm_profile_new(counting, &f, &e)) failures++;
    HARMLESS(rvm_profile_total, f, (rvm_profile_total(NULL, &c), !rvm_profile_sum(&c)));
    HARMLESS(rvm_profile_total, out, (rvm_profile_total(f, NULL), true));
    HARMLESS(rvm_profile_kind, f, !rvm_profile_kind(NULL, 0, &kind));
    HARMLESS(rvm_profile_kind, out, !rvm_profile_kind(f, 0, NULL));
    HARMLESS(rvm_profile_kind_work, f, !rvm_profile_kind_work(NULL, 0, &(rvm_work){0}));
    HARMLESS(rvm_profile_kind_work, out, !rvm_profile_kind_work(f, 0, NULL));
    HARMLESS(rvm_profile_kind_switching, f, !rvm_profile_kind_switching(NULL, 0, &(rvm_switching){{0}, {0}}));
    HARMLESS(rvm_profile_kind_switching, out, !rvm_profile_kind_switching(f, 0, NULL));
    HARMLESS(rvm_profile_path_at, f, !rvm_profile_path_at(NULL, 0, &path));
    HARMLESS(rvm_profile_path_at, out, !rvm_profile_path_at(f, 0, NULL));
    HARMLESS(rvm_profile_recursion_at, f, !rvm_profile_recursion_at(NULL, 0, &recursion));
    HARMLESS(rvm_profile_recursion_at, out, !rvm_profile_recursion_at(f, 0, NULL));
    HARMLESS(rvm_profile_function_at, f, !rvm_profile_function_at(NULL, fn, &function));
    HARMLESS(rvm_profile_function_at, out, !rvm_profile_function_at(f, fn, NULL));
    HARMLESS(rvm_profile_instruction, f, !rvm_profile_instruction(NULL, fn, 1, &c));
    HARMLESS(rvm_profile_instruction, out, !rvm_profile_instruction(f, fn, 1, NULL));
    HARMLESS(rvm_profile_instruction_on, f, !rvm_profile_instruction_on(NULL, 0, 1, &c));
    HARMLESS(rvm_profile_instruction_on, out, !rvm_profile_instruction_on(f, 0, 1, NULL));
    HARMLESS(rvm_profile_line_at, f, !rvm_profile_line_at(NULL, 0, &line));
    HARMLESS(rvm_profile_line_at, out, !rvm_profile_line_at(f, 0, NULL));
    HARMLESS(rvm_profile_memory_at, f, !rvm_profile_memory_at(NULL, 0, &memory));
    HARMLESS(rvm_profile_memory_at, out, !rvm_profile_memory_at(f, 0, NULL));
    HARMLESS(rvm_profile_memory_peak, f, (rvm_profile_memory_peak(NULL, &memory), !memory.states));
    HARMLESS(rvm_profile_memory_peak, out, (rvm_profile_memory_peak(f, NULL), true));
    rvm_profile_free(f);
    HARMLESS(rvm_profile_free, f, (rvm_profile_free(NULL), true));
}
