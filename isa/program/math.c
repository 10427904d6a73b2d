/* math.c: whose elementary functions programs are computed with: the names, and the choice. */
#include "maths.h"
#include "support.h"

static const char *const names[] = {[RVM_MATH_AUTO] = "auto", [RVM_MATH_LIBM] = "libm", [RVM_MATH_SLEEF] = "sleef"};

const char *rvm_math_name(rvm_math math) {
    return (unsigned)math <= RVM_MATH_SLEEF ? names[math] : "?";
}

rvm_status rvm_math_choose(rvm_math asked, rvm_math *out, rvm_error *err) {
    RVM__NEEDS(out);
    if ((unsigned)asked > RVM_MATH_SLEEF)
        return rvm__fail(err, RVM_ERR_USAGE, NULL, 0, 0, "no set of elementary functions has number %d", (int)asked);
    const char *lacks = asked == RVM_MATH_LIBM ? NULL : rvm__lacks_sleef();
    *out = asked == RVM_MATH_LIBM || lacks ? RVM_MATH_LIBM : RVM_MATH_SLEEF;
    if (!lacks || asked != RVM_MATH_SLEEF) return RVM_OK;
    return rvm__fail(err, RVM_ERR_UNSUPPORTED, NULL, 0, 0, "SLEEF's elementary functions are not there: %s", lacks);
}
