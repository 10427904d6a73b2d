/* types.c: names of types and roles, conversion of fix. */
#include "rvm_program.h"
#include <math.h>

const char *rvm_type_name(rvm_type t) {
    static const char *const names[] = {[RVM_I64] = "i64", [RVM_F64] = "f64", [RVM_FIX] = "fix", [RVM_F32] = "f32"};
    _Static_assert(sizeof names / sizeof *names == RVM_TYPE_COUNT, "a name for each type");
    return (unsigned)t < RVM_TYPE_COUNT ? names[t] : "?";
}

const char *rvm_role_name(rvm_role r) {
    static const char *const names[] = {[RVM_READ] = "read", [RVM_ACC] = "accumulate", [RVM_OWN] = "own"};
    return (unsigned)r <= RVM_OWN ? names[r] : "?";
}

int64_t rvm_fix_from_double(double x) {
    double scaled = nearbyint(x * (double)(INT64_C(1) << RVM_FIX_FRACTION)); /* the product is exact or infinite */
    if (isnan(scaled)) return 0;
    if (scaled >= 0x1p63) return INT64_MAX;
    return scaled < -0x1p63 ? INT64_MIN : (int64_t)scaled;
}

double rvm_fix_to_double(int64_t x) {
    return (double)x / (double)(INT64_C(1) << RVM_FIX_FRACTION);
}

static const char *const class_names[RVM_CLASSES] = {
#define X(id, name) [RVM_CLASS_##id] = name,
    RVM_CLASS_MAP(X)
#undef X
};

const char *rvm_class_name(rvm_class c) {
    return (unsigned)c < RVM_CLASSES ? class_names[c] : "?";
}
