/* handlers.h: the handlers of the interpreter, in pairs: going down, the machine runs the other half of a pair.
 *
 *   HP(handler, inverse)   HS(handler): its own inverse
 *
 * Updates come three ways: by kernel (T_family), inlined on registers (r_...), inlined on any places (g_...); the rows worth
 * inlining are listed in HOT_*. `letu`, `forget` are let and unlet without the comparison. x_...: reals in runs that restore
 * every bit. */
#ifndef RVM_HANDLERS_H
#define RVM_HANDLERS_H

/* clang-format off */
#define HOT_I64(X) X(i64, i64, id, 1) X(i64, i64, add, 2) X(i64, i64, sub, 2) X(i64, i64, mul, 2)
#define HOT_F64(X) \
    X(f64, f64, id, 1) X(f64, f64, neg, 1) X(f64, f64, sqr, 1) \
    X(f64, f64, add, 2) X(f64, f64, sub, 2) X(f64, f64, mul, 2) X(f64, f64, div, 2)
#define HOT_CMP(X) \
    X(i64, i64, lt, 2) X(i64, i64, le, 2) X(i64, i64, gt, 2) X(i64, i64, ge, 2) X(i64, i64, eq, 2) X(i64, i64, ne, 2) \
    X(i64, f64, lt, 2) X(i64, f64, le, 2) X(i64, f64, gt, 2) X(i64, f64, ge, 2) X(i64, f64, eq, 2) X(i64, f64, ne, 2)

/* The handlers of one hot row: target type Y, operand type T. */
#define HOT_LET_PAIRS(Y, T, row, arity) \
    HP(r_##T##_let_##row, r_##T##_unlet_##row) HP(r_##T##_letu_##row, r_##T##_forget_##row) \
    HP(g_##T##_let_##row, g_##T##_unlet_##row) HP(g_##T##_letu_##row, g_##T##_forget_##row)
#define HOT_PAIRS(Y, T, row, arity) \
    HP(r_##T##_add_##row, r_##T##_sub_##row) HP(g_##T##_add_##row, g_##T##_sub_##row) HOT_LET_PAIRS(Y, T, row, arity)

/* Changes in place of a type: the row, and how many places and operands it has, none of them a condition. */
#define HOT_CHANGES(X) X(i64, neg, 1, 0) X(f64, neg, 1, 0) X(i64, inc, 1, 0) X(f64, hadamard, 2, 0)
#define HOT_CHANGE_PAIR(T, row, places, operands) HP(T##_##row##_forward, T##_##row##_back)

/* Products and copies of elements whose indices are proved or trusted: form e, by the kinds of the places, S a slot, 1 and 2 an
 * element of a vector or a matrix. */
#define E_KINDS_AB(X, y) X(y, S, 1) X(y, S, 2) X(y, 1, S) X(y, 1, 1) X(y, 1, 2) X(y, 2, S) X(y, 2, 1) X(y, 2, 2)
#define E_MUL(X) E_KINDS_AB(X, S) E_KINDS_AB(X, 1) X(1, S, S) X(2, S, S)
#define E_ID(X) X(S, 1, S) X(S, 2, S) X(1, S, S) X(1, 1, S) X(1, 2, S) X(2, S, S) X(2, 1, S) X(2, 2, S)
#define E_MUL_PAIR(y, a, b) HP(e_add_mul_##y##a##b, e_sub_mul_##y##a##b)
#define E_ID_PAIR(y, a, b) HP(e_add_id_##y##a##b, e_sub_id_##y##a##b)

/* Register instructions that cannot fail are run two at a time: the handler of one runs its neighbour too, the one after it
 * going up, the one before it going down. Entering at the neighbour, by a jump, runs that alone.
 * X(number, name, inverse's number), and all pairs of them. */
#define FUSIBLE(X) X(1, i64_add, 2) X(2, i64_sub, 1) X(3, xor, 3) X(4, swap, 4)
#define FUSED_WITH(X, a, A, ia) X(a, A, ia, 1, i64_add, 2) X(a, A, ia, 2, i64_sub, 1) X(a, A, ia, 3, xor, 3) X(a, A, ia, 4, swap, 4)
#define FUSED(X) FUSED_WITH(X, 1, i64_add, 2) FUSED_WITH(X, 2, i64_sub, 1) FUSED_WITH(X, 3, xor, 3) FUSED_WITH(X, 4, swap, 4)

/* Handlers with a shadowed form for gradient and tangent mode, and those without. All lists make the enumeration. */
#define SHADOW_HANDLERS \
    HP(f64_set, f64_unset) HP(fix_set, fix_unset) HP(f32_set, f32_unset) HP(drop, undrop) HP(recall, shed) HP(stow, unstow) \
    HP(f64_add, f64_sub) HP(f64_mul, f64_div) HP(f64_let, f64_unlet) HP(f64_letu, f64_forget) HOT_F64(HOT_PAIRS) \
    HP(fix_add, fix_sub) HP(fix_let, fix_unlet) HP(fix_letu, fix_forget) \
    HP(f32_add, f32_sub) HP(f32_mul, f32_div) HP(f32_let, f32_unlet) HP(f32_letu, f32_forget) \
    HS(r_swap) HS(g_swap) HP(change, change_back) HP(change_1, change_1_back) HP(change_2, change_2_back) HP(change_21, change_21_back) HOT_CHANGES(HOT_CHANGE_PAIR) HP(push, pop) HP(pushc, popc) \
    E_MUL(E_MUL_PAIR) E_ID(E_ID_PAIR) \
    HP(x_let, x_unlet) HP(x_add, x_sub) HP(x_mul, x_div)
#define PLAIN_HANDLERS \
    HP(x_foreign, x_foreign_back) \
    HP(i64_set, i64_unset) HP(segment, endsegment) HP(i64_add, i64_sub) HP(i64_mul, i64_div) HP(i64_let, i64_unlet) HP(i64_letu, i64_forget) HOT_I64(HOT_PAIRS) \
    HOT_CMP(HOT_LET_PAIRS) HS(i64_xor) HS(r_xor) \
    HP(addr, unaddr) HP(new, del) HP(view, unview) HS(assert) HS(nop) HS(trap) HS(patched)
/* Where a stretch of straight code may end. */
#define CONTROL_HANDLERS \
    HP(start, halt) HP(jmp, cf) HP(jt, cft) HP(jf, cff) HP(jtu, cftu) HP(jfu, cffu) HP(for_up, for_down) HP(next_up, next_down) \
    HP(par_up, par_down) HP(endpar_up, endpar_down) \
    HP(inner_for_up, inner_for_down) HP(inner_next_up, inner_next_down) \
    HP(call, uncall) HP(compute_up, compute_down) HP(do_up, do_down) HP(undo_up, undo_down) HP(forget_up, forget_down)
/* clang-format on */

enum {
#define HP(a, b) H_##a, H_##b,
#define HS(a)    H_##a, H_##a##_again,
    SHADOW_HANDLERS PLAIN_HANDLERS CONTROL_HANDLERS
#undef HP
#undef HS
        RVM__PLAIN,              /* added to a handler where shadows have no part in the instruction */
    RVM__FUSED = 2 * RVM__PLAIN, /* + here * 25 + before * 5 + after, numbers of FUSIBLE, or 0 */
    RVM__HANDLERS = RVM__FUSED + 125
};
_Static_assert(H_inner_for_up - H_for_up == H_inner_next_down - H_next_down, "inner loops stand in the order of loops");

#endif
