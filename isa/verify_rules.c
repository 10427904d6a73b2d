/* verify_rules.c */
#include "verify.h"
rvm_status rvm__verify_rules(rvm__verifier *v) {
    (void)v;
    return RVM_OK;
}
