/* cmd_grad.c: rvm grad and rvm vjp (the backward sweep), rvm jvp (tangents). */
#include "tool.h"

#include <math.h>
#include <stdlib.h>

/* ---- output that both share ---- */

static void print_json(tool *t, rvm_status saved, const values *shown, const shadow_lines *s, const char *key) {
    json j;
    tool_json_begin(&j, t, saved);
    output_json_values(&j, t, shown);
    json_key(&j, key);
    json_open(&j, '{');
    for (uint32_t i = 0; i < t->v.n; i++)
        if (s->set[i] && only_takes(t, i, s)) output_json_param(&j, &t->v, i, s->set);
    json_close(&j, '}');
    output_json_stats(&j, t);
    tool_json_end(&j);
}

static void print_text(const tool *t, const values *shown, const shadow_lines *s) {
    output_values(t, shown);
    for (uint32_t i = 0; i < t->v.n; i++)
        if (s->set[i] && only_takes(t, i, s)) output_param(stdout, s->prefix, s->suffix, &t->v, i, s->set);
    output_stats(t);
}

/* Of results and the marked shadows. */
static bool has_nan(const tool *t, const values *results, const bool *set) {
    for (uint32_t i = 0; i < t->v.n; i++) {
        const rvm_type type = t->v.info[i].type;
        for (size_t k = 0, n = type_is_real(type) ? arg_count(&t->v.arg[i]) : 0; k < n; k++)
            if (isnan(rvm_scalar_to_double(type, arg_get(&results->arg[i], k))) ||
                (set[i] && isnan(rvm_scalar_to_double(type, arg_get_shadow(&t->v.arg[i], k)))))
                return true;
    }
    return false;
}

/* ---- grad ---- */

/* Marks in wrt[] what is differentiated by and finds the seeded element. By default that is every real, save an output that
 * is only accumulated into: its own derivative is the seed. What the function writes is active, too: values pass through. */
rvm_status tool_choose_gradient(tool *t, bool *wrt, uint32_t *of, size_t *element) {
    if (!t->o.of) return tool_fail(t, RVM_ERR_USAGE, "--of NAME is missing: what is to be differentiated?");
    rvm_status st = values_find_element(&t->v, t->o.of, of, element, &t->err);
    if (!st && !type_is_real(t->v.info[*of].type))
        st = tool_fail(t, RVM_ERR_ARGUMENT, "--of %s: `%s` is i64 and has no derivative", t->o.of, t->v.info[*of].name);
    if (!st) st = values_select(&t->v, t->o.wrt, wrt, &t->err);
    if (!st && !t->o.wrt && !t->o.only && t->v.info[*of].role == RVM_ACC) wrt[*of] = false;
    for (uint32_t i = 0; !st && i < t->v.n; i++)
        if (wrt[i] || i == *of || (type_is_real(t->v.info[i].type) && t->v.info[i].role != RVM_READ))
            st = arg_activate(&t->v.arg[i], &t->err);
    return st;
}

/* A derivative that is written by hand for the other kind alone does not take part. */
static void note_other_kind(tool *t, rvm_transform kind) {
    const bool sweeps = rvm_program_by_hand(t->program, (uint32_t)t->fn, RVM_ADJOINT);
    const bool tangents = rvm_program_by_hand(t->program, (uint32_t)t->fn, RVM_TANGENT_OF);
    if (kind == RVM_TANGENT_OF && sweeps && !tangents)
        report_note_text(t, "a derivative is written by hand for sweeps alone (f'adj): tangents go by the code");
    if (kind == RVM_ADJOINT && tangents && !sweeps)
        report_note_text(t, "a derivative is written by hand for tangents alone (f'tan): sweeps go by the code");
}

/* Forward and back from seeds that are there already, in two moves, so that the sweep can be taken back. */
static rvm_status move_both(tool *t, values *after) {
    rvm_status st = rvm_machine_bind(t->machine, t->fn, t->v.arg, t->v.n, RVM_GRADIENT, false, &t->err);
    if (!st) st = rvm_machine_forward(t->machine, &t->err);
    if (!st) st = values_copy(after, &t->v, &t->err);
    return st ? st : rvm_machine_sweep(t->machine, &t->err);
}

static rvm_status sweep_once(tool *t, values *after) {
    rvm_status st;
    progress_begin(&t->progress, t->machine);
    if (t->o.undo) {
        st = move_both(t, after);
    } else {
        st = rvm_value_and_gradient(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
        if (!st) st = values_copy(after, &t->v, &t->err);
    }
    progress_end(&t->progress);
    native_tell(t);
    if (!st) checkpoints_tell(t);
    return st;
}

/* *after: the results; the derivatives are shadows of t->v. */
static rvm_status forward_and_sweep(tool *t, values *after) {
    values start = {0};
    rvm_status st = values_copy_all(&start, &t->v, &t->err);
    if (!st) st = sweep_once(t, after);
    if (exactly_again(t, &st)) {
        values_free(after);
        values_assign_all(&t->v, &start);
        st = sweep_once(t, after);
    }
    values_free(&start);
    return st;
}

/* --undo: forward again, which takes the gradient back: the results `after` and the seed must be there again. *apart: by how
 * much they differ at most. The gradient is put back for printing. */
static rvm_status undo(tool *t, const values *after, uint32_t of, size_t element, double *apart) {
    const double tol = option_given(&t->o, tol) ? t->o.tol : rvm_options_default().tolerance;
    values gradient = {0};
    double scale = 1;
    rvm_status st = values_copy(&gradient, &t->v, &t->err);
    for (uint32_t i = 0; !st && i < t->v.n; i++) {
        if (!t->v.arg[i].active) continue;
        st = arg_activate(&gradient.arg[i], &t->err);
        for (size_t k = 0, n = st ? 0 : arg_count(&t->v.arg[i]); k < n; k++)
            arg_set_shadow(&gradient.arg[i], k, arg_get_shadow(&t->v.arg[i], k));
    }
    if (!st) st = rvm_machine_forward(t->machine, &t->err);
    if (st) goto done;
    const difference d = values_compare(after, &t->v, tol);
    *apart = d.error;
    for (uint32_t i = 0; i < t->v.n; i++)
        for (size_t k = 0, n = t->v.arg[i].active ? arg_count(&t->v.arg[i]) : 0; k < n; k++) {
            const rvm_type type = t->v.info[i].type;
            const double seed = i == of && k == element;
            scale = fmax(scale, fabs(rvm_scalar_to_double(type, arg_get_shadow(&gradient.arg[i], k))));
            *apart = fmax(*apart, fabs(rvm_scalar_to_double(type, arg_get_shadow(&t->v.arg[i], k)) - seed));
            arg_set_shadow(&t->v.arg[i], k, arg_get_shadow(&gradient.arg[i], k));
        }
    if (!d.same)
        st = tool_fail(t, RVM_ERR_CHECK, "forward again after the sweep: values are %.3g apart", d.error);
    else if (!(*apart <= tol * scale * 10))
        st = tool_fail(t, RVM_ERR_CHECK,
                       "forward again after the sweep: the values are there, but shadows are %.3g from the seeds: what "
                       "rounding takes from them is recorded nowhere, and grew",
                       *apart);
done:
    values_free(&gradient);
    return st;
}

rvm_status command_GRAD(tool *t) {
    bool wrt[RVM_MAX_PARAMS + 1] = {0};
    uint32_t of = 0;
    size_t element = 0;
    values after = {0};
    char prefix[128];
    const shadow_lines gradient = {wrt, prefix, ""};
    double apart = 0;
    if (t->o.dump) return native_dump(t);
    rvm_status st = tool_prepare(t);
    if (!st) st = tool_choose_gradient(t, wrt, &of, &element);
    snprintf(prefix, sizeof prefix, "d %s / d ", t->o.of ? t->o.of : "");
    if (!st) st = only_check(t, &gradient, NULL, NULL);
    if (st) goto done;
    points_note_active(t);
    note_other_kind(t, RVM_ADJOINT);
    checkpoints_note(t);
    arg_set_shadow(&t->v.arg[of], element, rvm_scalar_from_double(t->v.info[of].type, 1));
    st = forward_and_sweep(t, &after);
    if (!st && t->o.undo) st = undo(t, &after, of, element, &apart);
    if (st) goto done;
    exactly_note_nan(t, has_nan(t, &after, wrt));
    st = output_save(t, &after);
    if (t->o.json)
        print_json(t, st, &after, &gradient, "gradients");
    else
        print_text(t, &after, &gradient);
    if (t->o.undo && !t->o.json) printf("taken back: values and seeds are there again, %.3g apart at most\n", apart);
done:
    values_free(&after);
    return st;
}

/* ---- jvp ---- */

rvm_status command_JVP(tool *t) {
    bool real[RVM_MAX_PARAMS + 1];
    const shadow_lines tangents = {real, "d ", ""};
    rvm_status st = tool_prepare(t);
    if (!st && !t->o.dot.n) st = tool_fail(t, RVM_ERR_USAGE, "--dot NAME=VALUE is missing: along what?");
    if (!st) st = tool_read_shadows(t, real, &t->o.dot, "--dot", "tangent");
    if (!st) st = only_check(t, &tangents, NULL, NULL);
    if (st) return st;
    points_note_active(t);
    note_other_kind(t, RVM_TANGENT_OF);
    progress_begin(&t->progress, t->machine);
    st = rvm_tangent(t->machine, t->fn, t->v.arg, t->v.n, &t->err);
    progress_end(&t->progress);
    native_tell(t);
    if (st) return st;
    st = output_save(t, &t->v);
    if (t->o.json)
        print_json(t, st, &t->v, &tangents, "tangents");
    else
        print_text(t, &t->v, &tangents);
    return st;
}

/* ---- vjp ---- */

rvm_status command_VJP(tool *t) {
    bool real[RVM_MAX_PARAMS + 1];
    const shadow_lines gains = {real, "", only_suffix(t)};
    values after = {0};
    rvm_status st = tool_prepare(t);
    if (!st && !t->o.seed.n) st = tool_fail(t, RVM_ERR_USAGE, "--seed NAME=VALUE is missing: the derivatives of what?");
    if (!st) st = tool_read_shadows(t, real, &t->o.seed, "--seed", "weight");
    if (!st) st = only_check(t, &gains, NULL, NULL);
    if (!st) points_note_active(t);
    if (!st) note_other_kind(t, RVM_ADJOINT);
    if (!st) checkpoints_note(t);
    if (!st) st = forward_and_sweep(t, &after);
    if (st) goto done;
    exactly_note_nan(t, has_nan(t, &after, real));
    st = output_save(t, &after);
    if (t->o.json)
        print_json(t, st, &after, &gains, "gradients");
    else
        print_text(t, &after, &gains);
done:
    values_free(&after);
    return st;
}
