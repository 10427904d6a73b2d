/* places.h: the places of an update, by the form of its handler. */
#ifndef RVM_PLACES_H
#define RVM_PLACES_H

#include <math.h>

#include "step.h"

/* The place, or NULL where an index is out of bounds. */
FORCE_INLINE rvm_value *value_place(const rvm__xplace *q, rvm_value *r, const rvm__at_frame *f) {
    if (q->kind == XSLOT) return r + q->slot;
    if (q->kind == XELEM) return rvm__element(f, q, r, false);
    const rvm__array *a = f->arrays + q->slot;
    const int64_t i = r[q->i].i;
    if (unlikely((uint64_t)i >= (uint64_t)a->dim[0])) return NULL;
    char *p = a->data + i * a->stride[0];
    if (q->kind == XELEM1) return (rvm_value *)(void *)p;
    const int64_t j = r[q->j].i;
    if (unlikely((uint64_t)j >= (uint64_t)a->dim[1])) return NULL;
    return (rvm_value *)(void *)(p + j * a->stride[1]);
}

/* The shadow of an active place whose indices are in bounds, but for kind ELEM. */
FORCE_INLINE rvm_value *near_shadow(const rvm__xplace *q, rvm_value *r, const rvm__at_frame *f) {
    if (q->kind == XSLOT) return f->shadows + q->slot;
    const rvm__array *a = f->arrays + q->slot;
    char *p = a->shadow + r[q->i].i * a->shadow_stride[0];
    if (q->kind == XELEM2) p += r[q->j].i * a->shadow_stride[1];
    return (rvm_value *)(void *)p;
}

FORCE_INLINE rvm_value *shadow_place(const rvm__xplace *q, rvm_value *r, const rvm__at_frame *f) {
    return q->kind == XELEM ? rvm__element(f, q, r, true) : near_shadow(q, r, f);
}

/* What of an instruction's places is known where its handler is made. REGISTERS: slots only, all active; ELEMENTS: of kinds
 * that are known, whose indices are proved or trusted, all active; SLOTS: slots only; PLACES: any; LEAF: any, but the
 * handler calls nothing: what takes a call counts as out of bounds. */
enum form { REGISTERS, ELEMENTS, SLOTS, PLACES, LEAF };
typedef struct shape {
    enum form form;
    int arity;               /* operands */
    enum rvm__xkind y, a, b; /* of ELEMENTS */
} shape;

/* Target and operands, and their shadows as far as there are any. Without a second or third operand, b or c is a. */
typedef struct update_places {
    rvm_value *y, *a, *b, *c, *y_, *a_, *b_, *c_;
} update_places;

/* Whether place k has a shadow that counts. */
FORCE_INLINE bool has_shadow(const rvm__xinsn *x, shape s, int k) {
    return s.form == REGISTERS || s.form == ELEMENTS ? k <= s.arity : x->active >> k & 1;
}

/* The place was given a real: its largest magnitude is kept. Of an element that takes a call. */
FORCE_INLINE void track(rvm_machine *m, const rvm__xinsn *x, const rvm__xplace *q, double y) {
    double *held = &m->run.frame.held[q->slot];
    if (unlikely(q->kind != XSLOT))
        rvm__track_at(m, x, q, y);
    else if ((x->flags & X_FRESH) || fabs(y) > *held)
        *held = fabs(y);
}

/* Of the n places at `at`, one that changes is another. */
FORCE_INLINE bool coincide(rvm_value *const *at, int changed, int n) {
    for (int k = 0; k < changed; k++)
        for (int i = k + 1; i < n; i++)
            if (at[k] == at[i]) return true;
    return false;
}

/* find_...: the places of instruction x, with their shadows if these are wanted; f: of the frame. INDEX, ALIAS. */
FORCE_INLINE rvm_status find_registers(const rvm__xinsn *x, rvm_value *r, const rvm__at_frame *f, shape s, bool shadows,
                                       update_places *p) {
    rvm_value *sh = shadows ? f->shadows : r;
    *p = (update_places){.y = r + x->p[0].slot, .a = r + x->p[1].slot, .y_ = sh + x->p[0].slot, .a_ = sh + x->p[1].slot};
    p->b = p->c = s.arity > 1 ? r + x->p[2].slot : p->a;
    p->b_ = p->c_ = s.arity > 1 ? sh + x->p[2].slot : p->a_;
    return RVM_OK;
}

FORCE_INLINE rvm_value *element(const rvm__xplace *q, enum rvm__xkind kind, rvm_value *r, const rvm__array *arrays) {
    if (kind == XSLOT) return r + q->slot;
    const rvm__array *a = arrays + q->slot;
    char *p = a->data + r[q->i].i * a->stride[0];
    return (rvm_value *)(void *)(kind == XELEM1 ? p : p + r[q->j].i * a->stride[1]);
}
FORCE_INLINE rvm_value *element_shadow(const rvm__xplace *q, enum rvm__xkind kind, rvm_value *r, const rvm__at_frame *f) {
    return near_shadow(&(rvm__xplace){q->slot, q->i, q->j, (uint16_t)kind}, r, f);
}

FORCE_INLINE rvm_status find_elements(const rvm__xinsn *x, rvm_value *r, const rvm__at_frame *f, shape s, bool shadows,
                                      update_places *p) {
    const rvm__array *arrays = f->arrays;
    *p = (update_places){.y = element(&x->p[0], s.y, r, arrays), .a = element(&x->p[1], s.a, r, arrays)};
    p->b = p->c = s.arity > 1 ? element(&x->p[2], s.b, r, arrays) : p->a;
    if (!shadows) return RVM_OK;
    p->y_ = element_shadow(&x->p[0], s.y, r, f);
    p->a_ = element_shadow(&x->p[1], s.a, r, f);
    p->b_ = p->c_ = s.arity > 1 ? element_shadow(&x->p[2], s.b, r, f) : p->a_;
    return RVM_OK;
}

_Static_assert(XSLOT == 0, "what an instruction does not use counts as a slot");
FORCE_INLINE bool all_slots(const rvm__xinsn *x) {
    return !(x->p[0].kind | x->p[1].kind | x->p[2].kind | x->p[3].kind);
}

/* Whether they are the same the verifier has seen. Without a second operand, b
 * is some slot. */
FORCE_INLINE rvm_status find_slots(const rvm__xinsn *x, rvm_value *r, const rvm__at_frame *f, shape s, bool shadows,
                                   update_places *p) {
    rvm_value *sh = shadows ? f->shadows : r;
    *p = (update_places){.y = r + x->p[0].slot, .a = r + x->p[1].slot, .b = r + x->p[2].slot, .y_ = sh + x->p[0].slot};
    p->c = s.arity > 2 ? r + x->p[3].slot : p->a;
    p->a_ = sh + x->p[1].slot;
    p->b_ = sh + x->p[2].slot;
    p->c_ = s.arity > 2 ? sh + x->p[3].slot : p->a_;
    return RVM_OK;
}

FORCE_INLINE rvm_value *any_place(const rvm__xplace *q, enum form form, rvm_value *r, const rvm__at_frame *f) {
    return form == LEAF && unlikely(q->kind == XELEM) ? NULL : value_place(q, r, f);
}
FORCE_INLINE rvm_value *any_shadow(const rvm__xplace *q, enum form form, rvm_value *r, const rvm__at_frame *f) {
    return form == LEAF ? near_shadow(q, r, f) : shadow_place(q, r, f);
}

FORCE_INLINE rvm_status find_any(const rvm__xinsn *x, rvm_value *r, const rvm__at_frame *f, shape s, bool shadows,
                                 update_places *p) {
    if (unlikely(!(p->y = any_place(&x->p[0], s.form, r, f)))) return RVM_ERR_INDEX;
    if (unlikely(!(p->a = any_place(&x->p[1], s.form, r, f)))) return RVM_ERR_INDEX;
    p->b = p->c = p->a;
    if (s.arity > 1 && unlikely(!(p->b = any_place(&x->p[2], s.form, r, f)))) return RVM_ERR_INDEX;
    if (s.arity > 2 && unlikely(!(p->c = any_place(&x->p[3], s.form, r, f)))) return RVM_ERR_INDEX;
    if (unlikely(x->flags & X_ALIAS) && (p->y == p->a || (s.arity > 1 && p->y == p->b) || (s.arity > 2 && p->y == p->c)))
        return RVM_ERR_ALIAS;
    p->y_ = p->a_ = p->b_ = p->c_ = NULL;
    if (!shadows) return RVM_OK;
    p->y_ = any_shadow(&x->p[0], s.form, r, f);
    if (has_shadow(x, s, 1)) p->a_ = any_shadow(&x->p[1], s.form, r, f);
    if (s.arity > 1 && has_shadow(x, s, 2)) p->b_ = any_shadow(&x->p[2], s.form, r, f);
    if (s.arity > 2 && has_shadow(x, s, 3)) p->c_ = any_shadow(&x->p[3], s.form, r, f);
    return RVM_OK;
}

#endif
