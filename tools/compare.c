#include "values.h"

#include <math.h>

/* Error of b against a in units of what is allowed: above 1 is too far. */
static double excess(rvm_type t, rvm_scalar a, rvm_scalar b, double tol, double *error) {
    if (!rvm_type_is_floating(t)) {
        *error = t == RVM_FIX ? fabs(rvm_fix_to_double(a.i) - rvm_fix_to_double(b.i)) : fabs((double)a.i - (double)b.i);
        return a.i == b.i ? 0 : INFINITY;
    }
    *error = fabs(a.f - b.f);
    if (a.i == b.i || a.f == b.f || (isnan(a.f) && isnan(b.f))) return *error = 0;
    double allowed = (t == RVM_F32 ? 1e4 : 1) * tol * fmax(1, fabs(a.f));
    return isfinite(*error) && allowed > 0 ? *error / allowed : INFINITY;
}

difference values_compare(const values *a, const values *b, double tol) {
    difference d = {.same = true};
    double worst = 0;
    for (uint32_t i = 0; i < a->n; i++)
        for (size_t k = 0, n = arg_count(&a->arg[i]); k < n; k++) {
            double error, e = excess(a->info[i].type, arg_get(&a->arg[i], k), arg_get(&b->arg[i], k), tol, &error);
            if (e <= worst) continue;
            worst = e;
            d = (difference){.same = e <= 1, .param = i, .element = k, .error = error};
        }
    return d;
}
