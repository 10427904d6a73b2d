/* changes.c: what inplace.def says, as facts. */
#include "changes.h"

#define NUMBER(name) [RVM_PAIR_##name - RVM__PAIRS_BEFORE_CHANGES]

/* ---- facts ---- */

#define BRACES(...)                                                                                                         \
    { __VA_ARGS__ }
#define OUT(...) (__VA_ARGS__)
#define IGNORE(...)
#include "text_words.h"
#define Y "y"
#define Z "z"
#define W "w"
#define ITSELF
#define INVERSE(name, ...) (__VA_ARGS__) IGNORE
#define ALWAYS             NULL
#define FACTOR(x)          x " is neither 0 nor infinite nor NaN"
#define FINITE(x)          x " is finite"
#define NEAR(x, y)         x " is " y " within 1e-8, on f32 1e-4"
#define WHERE(x)           x
#define BY(...)                                                                                                             \
    {                                                                                                                       \
        { __VA_ARGS__ }                                                                                                     \
    }
#define PLUS(place)                                                                                                         \
    { 1, PLACE_##place }
#define MINUS(place)                                                                                                        \
    { -1, PLACE_##place }
enum { PLACE_Y, PLACE_Z, PLACE_W };
typedef struct terms {
    rvm_term of[RVM_MAX_CHANGED];
} terms;

enum {
#define NONE        0
#define FLAT        1
#define EITHER(...) (sizeof((const terms[]){__VA_ARGS__}) / sizeof(terms))
#define BEFORE(...) EITHER(__VA_ARGS__)
#define CHANGE(name, inverse, operands, types, value, exact, shadows, out, partials, where, doc)                            \
    PLACES_##name = sizeof((const char *const[])BRACES out) / sizeof(char *), OPERANDS_##name = partials,
#include "inplace.def"
#undef NONE
#undef FLAT
#undef EITHER
#undef BEFORE
#undef CHANGE
};

#define NONE                                                                                                                \
    {                                                                                                                       \
        false, {                                                                                                            \
            {                                                                                                               \
                { 0, 0 }                                                                                                    \
            }                                                                                                               \
        }                                                                                                                   \
    }
#define FLAT NONE
#undef BY
#define BY(...)                                                                                                             \
    { __VA_ARGS__ }
#define EITHER(...)                                                                                                         \
    {                                                                                                                       \
        false, {                                                                                                            \
            __VA_ARGS__                                                                                                     \
        }                                                                                                                   \
    }
#define BEFORE(...)                                                                                                         \
    {                                                                                                                       \
        true, {                                                                                                             \
            __VA_ARGS__                                                                                                     \
        }                                                                                                                   \
    }
#define STAY       RVM_SHADOWS_STAY
#define MOVE       RVM_SHADOWS_MOVE
#define LINEAR     RVM_SHADOWS_LINEAR
#define SCALE(...) RVM_SHADOWS_SCALE
const rvm_change_info rvm__change_info[RVM_CHANGE_COUNT] = {
#define CHANGE(name, inverse, letters, types, value, exactly, shadows_, out_, partials_, where_, doc)                       \
    NUMBER(name) = {.places = PLACES_##name,                                                                                \
                    .operands = OPERANDS_##name,                                                                            \
                    .conditional = sizeof(letters) - 1 > PLACES_##name + OPERANDS_##name,                                   \
                    .domain = (where_) != NULL,                                                                             \
                    .shadows = shadows_,                                                                                    \
                    .exact = RVM_EXACTLY_##exactly,                                                                         \
                    .partials = partials_,                                                                                  \
                    .out = {BRACES out_, BRACES inverse out_},                                                              \
                    .where = where_},
#include "inplace.def"
#undef CHANGE
};

bool rvm__op_is_recorded(rvm_op op) {
    return rvm__op_rounds(op) || (rvm__class_of(op) == RVM_CLASS_IN_PLACE && rvm__change_info[rvm__change_of(op)].exact);
}
