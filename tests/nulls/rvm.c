/* rvm.c: rvm.h. */
#include <stdlib.h>

#include "nulls.h"

static void *allocate(void *userdata, void *old, size_t old_size, size_t size) {
    (void)userdata, (void)old_size;
    if (size) return realloc(old, size);
    free(old);
    return NULL;
}

static void machines(void) {
    rvm_machine *other = (rvm_machine *)&e;
    rvm_options o = rvm_options_default();
    const rvm_allocator al = {allocate, NULL};
    REFUSED(rvm_machine_new, p, NULL, NULL, &other, &e);
    HARMLESS(rvm_machine_new, p, other == NULL);
    REFUSED(rvm_machine_new, out, p, NULL, NULL, &e);
    UNTOLD(rvm_machine_new, NULL, NULL, &other, NULL);
    o.trail = (rvm_trail)99;
    NO_KIND(rvm_machine_new, options, p, &o, &other, &e);
    o = rvm_options_default();
    o.allocator = &al;
    ALLOWED(rvm_machine_new, options, p, &o, &other, &e);
    rvm_machine_free(other);
    ALLOWED(rvm_machine_new, options, p, NULL, &other, &e);
    rvm_machine_free(other);

    HARMLESS(rvm_machine_free, m, (rvm_machine_free(NULL), true));
    HARMLESS(rvm_machine_program, m, !rvm_machine_program(NULL));
    HARMLESS(rvm_machine_options, m, (rvm_machine_options(NULL, &o), !o.depth));
    HARMLESS(rvm_machine_options, out, (rvm_machine_options(m, NULL), true));
    HARMLESS(rvm_machine_bound, m, !rvm_machine_bound(NULL));
    HARMLESS(rvm_machine_cancel, m, (rvm_machine_cancel(NULL), true));
    HARMLESS(rvm_arg_lns_value, a, rvm_arg_lns_value(NULL) == 0);
    /* These are refused where they are bound. */
    set_arguments();
    args[1] = rvm_arg_array(RVM_F64, NULL, 1, shape);
    HARMLESS(rvm_arg_array, data, rvm_call(m, fn, args, 2, &e) == RVM_ERR_ARGUMENT);
    args[1] = rvm_arg_array(RVM_F64, x, 1, NULL);
    HARMLESS(rvm_arg_array, shape, rvm_call(m, fn, args, 2, &e) == RVM_ERR_SHAPE);
    args[1] = rvm_arg_array((rvm_type)99, x, 1, shape);
    HARMLESS(rvm_arg_array, type, rvm_call(m, fn, args, 2, &e) == RVM_ERR_ARGUMENT);
    args[1] = rvm_arg_array_f64(NULL, 1, shape);
    HARMLESS(rvm_arg_array_f64, data, rvm_call(m, fn, args, 2, &e) == RVM_ERR_ARGUMENT);
    args[1] = rvm_arg_array_f64(x, 1, NULL);
    HARMLESS(rvm_arg_array_f64, shape, rvm_call(m, fn, args, 2, &e) == RVM_ERR_SHAPE);
    HARMLESS(rvm_arg_array_i64, data, !rvm_arg_array_i64(NULL, 1, shape).data);
    HARMLESS(rvm_arg_array_i64, shape, rvm_arg_array_i64(NULL, 1, NULL).shape[0] == -1);
    set_arguments();
}

static void numbers(void) {
    char text[8] = "";
    rvm_scalar cells[2];
    HARMLESS(rvm_scalar_to_double, t, rvm_scalar_to_double((rvm_type)99, (rvm_scalar){.i = 1}) == 0);
    HARMLESS(rvm_scalar_from_double, t, rvm_scalar_from_double((rvm_type)99, 1).i == 0);
    HARMLESS(rvm_scalar_text, t, rvm_scalar_text((rvm_type)99, cells[0], text, sizeof text) == 1 && *text == '?');
    HARMLESS(rvm_scalar_text, text, rvm_scalar_text(RVM_F64, (rvm_scalar){.f = 1.5}, NULL, 100) == 3);
    HARMLESS(rvm_lns_text, t, !rvm_lns_text((rvm_type)99, (rvm_scalar){.i = 1}, text, sizeof text));
    HARMLESS(rvm_lns_text, text, rvm_lns_text(RVM_F64, (rvm_scalar){.f = 0}, NULL, 100));
    HARMLESS(rvm_arg_count, a, rvm_arg_count(NULL) == 0);
    HARMLESS(rvm_arg_gather, a, (rvm_arg_gather(NULL, false, cells), true));
    HARMLESS(rvm_arg_gather, to, (rvm_arg_gather(&args[1], false, NULL), true));
    HARMLESS(rvm_arg_scatter, a, (rvm_arg_scatter(NULL, false, cells), true));
    HARMLESS(rvm_arg_scatter, from, (rvm_arg_scatter(&args[1], false, NULL), true));
    HARMLESS(rvm_arg_element_text, name, rvm_arg_element_text(NULL, &args[1], 0, text, sizeof text) == 1);
    HARMLESS(rvm_arg_element_text, a, rvm_arg_element_text("x", NULL, 0, text, sizeof text) == 1);
    HARMLESS(rvm_arg_element_text, text, rvm_arg_element_text("x", &args[1], 0, NULL, 100) == 4);
}

static void runs(void) {
#define RUN(run)                                                                                                            \
    REFUSED(run, m, NULL, fn, args, 2, &e);                                                                                 \
    REFUSED(run, args, m, fn, NULL, 2, &e);                                                                                 \
    UNTOLD(run, NULL, fn, args, 2, NULL)
    RUN(rvm_call);
    RUN(rvm_uncall);
    RUN(rvm_gradient);
    RUN(rvm_value_and_gradient);
    RUN(rvm_sweep);
    RUN(rvm_tangent);
    REFUSED(rvm_machine_bind, m, NULL, fn, args, 2, RVM_PRIMAL, false, &e);
    REFUSED(rvm_machine_bind, args, m, fn, NULL, 2, RVM_PRIMAL, false, &e);
    NO_KIND(rvm_machine_bind, mode, m, fn, args, 2, (rvm_mode)99, false, &e);
    UNTOLD(rvm_machine_bind, NULL, fn, args, 2, RVM_PRIMAL, false, NULL);
    HARMLESS(rvm_machine_unbind, m, (rvm_machine_unbind(NULL), true));
#define MOVE(move)                                                                                                          \
    REFUSED(move, m, NULL, &e);                                                                                             \
    UNTOLD(move, NULL, NULL)
    MOVE(rvm_machine_forward);
    MOVE(rvm_machine_backward);
    MOVE(rvm_machine_sweep);
    bool done;
    REFUSED(rvm_machine_step, m, NULL, 1, &done, &e);
    UNTOLD(rvm_machine_step, NULL, 1, &done, NULL);
    if (rvm_machine_bind(m, fn, args, 2, RVM_PRIMAL, false, &e)) failures++;
    ALLOWED(rvm_machine_step, done, m, 1, NULL, &e);
    rvm_growth growth;
    REFUSED(rvm_machine_growth, m, NULL, m, 1, &growth, &e);
    REFUSED(rvm_machine_growth, reference, m, NULL, 1, &growth, &e);
    REFUSED(rvm_machine_growth, out, m, m, 1, NULL, &e);
    UNTOLD(rvm_machine_growth, NULL, m, 1, &growth, NULL);
}

/* Of the machine as it stands in a run. */
static void inspection(void) {
    rvm_location location;
    rvm_variable variable;
    rvm_stats stats = {.forward = 1};
    HARMLESS(rvm_machine_frames, m, !rvm_machine_frames(NULL));
    HARMLESS(rvm_machine_location, m, !rvm_machine_location(NULL, 0, 1, &location));
    HARMLESS(rvm_machine_location, out, !rvm_machine_location(m, 0, 1, NULL));
    HARMLESS(rvm_machine_variable, m, !rvm_machine_variable(NULL, 0, 0, &variable));
    HARMLESS(rvm_machine_variable, out, !rvm_machine_variable(m, 0, 0, NULL));
    HARMLESS(rvm_machine_place, m, !rvm_machine_place(NULL, 0, 0, &variable));
    HARMLESS(rvm_machine_place, out, !rvm_machine_place(m, 0, 0, NULL));
    HARMLESS(rvm_machine_share, m, rvm_machine_share(NULL) == -1);
    HARMLESS(rvm_machine_stats, m, (rvm_machine_stats(NULL, &stats), !stats.forward));
    HARMLESS(rvm_machine_stats, out, (rvm_machine_stats(m, NULL), true));
    HARMLESS(rvm_machine_stats_reset, m, (rvm_machine_stats_reset(NULL), true));
    rvm_machine *counting;
    rvm_options o = rvm_options_default();
    o.profile = true;
    if (rvm_machine_new(p, &o, &counting, &e) || rvm_call(counting, fn, args, 2, &e)) failures++;
    try_profile(counting);
    rvm_machine_free(counting);
    set_arguments();
}

static void records(void) {
    void *bytes = &e;
    size_t size = 1;
    REFUSED(rvm_machine_record_save, m, NULL, &bytes, &size, &e);
    HARMLESS(rvm_machine_record_save, m, !bytes && !size);
    REFUSED(rvm_machine_record_save, bytes, m, NULL, &size, &e);
    REFUSED(rvm_machine_record_save, size, m, &bytes, NULL, &e);
    UNTOLD(rvm_machine_record_save, NULL, &bytes, &size, NULL);
    REFUSED(rvm_machine_record_load, m, NULL, "x", 1, &e);
    REFUSED(rvm_machine_record_load, bytes, m, NULL, 1, &e);
    UNTOLD(rvm_machine_record_load, NULL, "x", 1, NULL);
    HARMLESS(rvm_machine_record_free, m, (rvm_machine_record_free(NULL, &e, 1), true));
    HARMLESS(rvm_machine_record_free, bytes, (rvm_machine_record_free(m, NULL, 1), true));
}

void try_rvm(void) {
    machines();
    numbers();
    runs();
    inspection();
    records();
}
