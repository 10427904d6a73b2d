/* text_words.h: the text vocabulary: the words of rows.def and families.def as strings of infix notation.
 *
 * Each word parenthesises its result, so that strings nest; who prints them may drop an outer pair.
 * Included where a table of strings is made; words_undef.h takes the words back.
 */
#define A               "a"
#define B               "b"
#define C               "c"
#define R               "f"
#define K(x)            #x
#define NEG(a)          "(-" a ")"
#define ADD(a, b)       "(" a " + " b ")"
#define SUB(a, b)       "(" a " - " b ")"
#define MUL(a, b)       "(" a " * " b ")"
#define DIV(a, b)       "(" a " / " b ")"
#define FMA(a, b, c)    "fma(" a ", " b ", " c ")"
#define FN(f, a)        #f "(" a ")"
#define FN2(f, a, b)    #f "(" a ", " b ")"
#define FNI(f, n, a)    FN2(f, n, a)
#define WHOLE(k)        #k
#define SUCC(n)         "(" n " + 1)"
#define SELECT(c, a, b) "select(" c ", " a ", " b ")"
#define GT(a, b)        "(" a " > " b ")"
#define GE(a, b)        "(" a " >= " b ")"
#define LT(a, b)        "(" a " < " b ")"
#define LE(a, b)        "(" a " <= " b ")"
#define EQ(a, b)        "(" a " == " b ")"
#define NE(a, b)        "(" a " != " b ")"
#define NONZERO(a)      a
#define IDIV(a, b)      "(" a " // " b ")"
#define IREM(a, b)      "(" a " % " b ")"
#define AND(a, b)       "(" a " & " b ")"
#define OR(a, b)        "(" a " | " b ")"
#define XOR(a, b)       "(" a " ^^ " b ")"
#define NOT(a)          "(~" a ")"
#define SHL(a, b)       "(" a " << " b ")"
#define SHR(a, b)       "(" a " >> " b ")"
#define LSHR(a, b)      "lshr(" a ", " b ")"
#define CONVERT(a)      "convert(" a ")"
