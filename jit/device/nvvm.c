/* nvvm.c: what libdevice (CUDA 13's) calls of LLVM's functions for NVIDIA's devices, on a host, so that a grid has
 * libdevice's functions, too: as far as a program's functions need it (functions.def). */
#include "device.h"

#define FUNCTION(name, result, params, of)                                                                                  \
    "define " result " @" RVM__NVVM name "(" params ") alwaysinline nounwind {\n" of "  ret " result " %y\n"                \
    "}\n"
/* Where LLVM has the same for any target; its declaration must be here, too. */
#define GENERIC(name, type, params, of) FUNCTION(name, type, params, "  %y = call " type " @" of "(" params ")\n")
/* Of what is too large, the largest there is. */
#define NEAREST(name, type, round, convert)                                                                                 \
    FUNCTION(name, "i32", type " %x",                                                                                       \
             "  %r = call " type " @" round "(" type " %x)\n"                                                               \
             "  %y = call i32 @" convert "(" type " %r)\n")
/* A device looks at the upper half of x alone, and gives as much: libdevice goes on from there by Newton's method. */
#define ROUGHLY(name, of)                                                                                                   \
    FUNCTION(name, "double", "double %x",                                                                                   \
             "  %i = bitcast double %x to i64\n"                                                                            \
             "  %j = and i64 %i, -4294967296\n"                                                                             \
             "  %u = bitcast i64 %j to double\n" of "  %k = bitcast double %q to i64\n"                                     \
             "  %l = and i64 %k, -4294967296\n"                                                                             \
             "  %y = bitcast i64 %l to double\n")
/* Two halves, the lower one first, are a number of 128 bits. */
#define WIDEN(to, low, high)                                                                                                \
    "  %" to "l = zext i64 %" low " to i128\n"                                                                              \
    "  %" to "h = zext i64 %" high " to i128\n"                                                                             \
    "  %" to "s = shl i128 %" to "h, 64\n"                                                                                  \
    "  %" to " = or i128 %" to "l, %" to "s\n"
#define PRODUCT(to)                                                                                                         \
    "  %" to "a = zext i64 %a to i128\n"                                                                                    \
    "  %" to "b = zext i64 %b to i128\n"                                                                                    \
    "  %" to " = mul i128 %" to "a, %" to "b\n"
#define WIDE(name, params, of)                                                                                              \
    FUNCTION(name, "{i64, i64}", params,                                                                                    \
             of "  %low = trunc i128 %w to i64\n"                                                                           \
                "  %up = lshr i128 %w, 64\n"                                                                                \
                "  %high = trunc i128 %up to i64\n"                                                                         \
                "  %half = insertvalue {i64, i64} poison, i64 %low, 0\n"                                                    \
                "  %y = insertvalue {i64, i64} %half, i64 %high, 1\n")
#define FOUR "i64 %a, i64 %b, i64 %c, i64 %d"

/* reflect: as compiled for no device in particular, with subnormal numbers. */
const char rvm__nvvm_on_host[] = "declare double @llvm.fma.f64(double, double, double)\n"
                                 "declare double @llvm.minnum.f64(double, double)\n"
                                 "declare double @llvm.fabs.f64(double)\n"
                                 "declare double @llvm.trunc.f64(double)\n"
                                 "declare double @llvm.rint.f64(double)\n"
                                 "declare double @llvm.sqrt.f64(double)\n"
                                 "declare float @llvm.fabs.f32(float)\n"
                                 "declare float @llvm.rint.f32(float)\n"
                                 "declare float @llvm.exp2.f32(float)\n"
                                 "declare float @llvm.log2.f32(float)\n"
                                 "declare i32 @llvm.fptosi.sat.i32.f64(double)\n"
                                 "declare i32 @llvm.fptosi.sat.i32.f32(float)\n"
                                 "define i32 @__nvvm_reflect(ptr %what) alwaysinline nounwind {\n"
                                 "  ret i32 0\n"
                                 "}\n"                                                    //
    GENERIC("fma.rn.d", "double", "double %a, double %b, double %c", "llvm.fma.f64")      //
    FUNCTION("add.rn.d", "double", "double %a, double %b", "  %y = fadd double %a, %b\n") //
    FUNCTION("mul.rn.d", "double", "double %a, double %b", "  %y = fmul double %a, %b\n") //
    GENERIC("fmin.d", "double", "double %a, double %b", "llvm.minnum.f64")                //
    GENERIC("fabs.d", "double", "double %x", "llvm.fabs.f64")                             //
    GENERIC("trunc.d", "double", "double %x", "llvm.trunc.f64")                           //
    GENERIC("round.d", "double", "double %x", "llvm.rint.f64")                            //
    GENERIC("fabs.f", "float", "float %x", "llvm.fabs.f32")                               //
    GENERIC("fabs.ftz.f", "float", "float %x", "llvm.fabs.f32")                           //
    GENERIC("round.f", "float", "float %x", "llvm.rint.f32")                              //
    GENERIC("ex2.approx.ftz.f", "float", "float %x", "llvm.exp2.f32")                     //
    GENERIC("lg2.approx.ftz.f", "float", "float %x", "llvm.log2.f32")                     //
    NEAREST("d2i.rn", "double", "llvm.rint.f64", "llvm.fptosi.sat.i32.f64")               //
    NEAREST("f2i.rn", "float", "llvm.rint.f32", "llvm.fptosi.sat.i32.f32")                //
    NEAREST("f2i.rn.ftz", "float", "llvm.rint.f32", "llvm.fptosi.sat.i32.f32")            //
    ROUGHLY("rcp.approx.ftz.d", "  %q = fdiv double 1.0, %u\n")                           //
    ROUGHLY("rsqrt.approx.ftz.d", "  %r = call double @llvm.sqrt.f64(double %u)\n"
                                  "  %q = fdiv double 1.0, %r\n") //
    FUNCTION("equal", "double", "double %a, double %b, double %x, double %z",
             "  %c = fcmp ueq double %a, %b\n"
             "  %y = select i1 %c, double %x, double %z\n")                                      //
    WIDE("add.wide", FOUR, WIDEN("x", "a", "b") WIDEN("z", "c", "d") "  %w = add i128 %x, %z\n") //
    WIDE("sub.wide", FOUR, WIDEN("x", "a", "b") WIDEN("z", "c", "d") "  %w = sub i128 %x, %z\n") //
    WIDE("mul.wide", "i64 %a, i64 %b", PRODUCT("w"))                                             //
    WIDE("mad.wide", "i64 %a, i64 %b, i64 %c",
         PRODUCT("p") "  %e = zext i64 %c to i128\n"
                      "  %w = add i128 %p, %e\n") //
    FUNCTION("d2i.lo", "i32", "double %x",
             "  %i = bitcast double %x to i64\n"
             "  %y = trunc i64 %i to i32\n") //
    FUNCTION("d2i.hi", "i32", "double %x",
             "  %i = bitcast double %x to i64\n"
             "  %h = lshr i64 %i, 32\n"
             "  %y = trunc i64 %h to i32\n") //
    FUNCTION("lohi.i2d", "double", "i32 %l, i32 %h",
             "  %a = zext i32 %l to i64\n"
             "  %b = zext i32 %h to i64\n"
             "  %c = shl i64 %b, 32\n"
             "  %d = or i64 %a, %c\n"
             "  %y = bitcast i64 %d to double\n");
