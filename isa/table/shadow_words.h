/* shadow_words.h: the column `shadows` of inplace.def: what becomes of Y_, the shadow of a place. For code with Y_, the
 * words MUL and DIV, and two flags: inverse, the second opcode of the pair; adjoint, the shadow is one of a sweep. No
 * include guard. */
#define STAY        Y_
#define MOVE        STAY
#define LINEAR      STAY
#define BY(a, b)    (inverse ? (b) : (a))
#define SCALE(a, b) (adjoint ? DIV(Y_, BY(a, b)) : MUL(Y_, BY(a, b)))
