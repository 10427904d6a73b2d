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
/* Of a float; libdevice has each with denormals flushed, too, and chooses by reflect. */
#define SINGLE(name, params, of)         FUNCTION(name ".f", "float", params, of) FUNCTION(name ".ftz.f", "float", params, of)
#define SINGLE_GENERIC(name, params, of) SINGLE(name, params, "  %y = call float @" of "(" params ")\n")
#define SINGLE_OP(name, of)              SINGLE(name, "float %a, float %b", "  %y = " of " float %a, %b\n")
/* Of a sum that a double holds, or nearly: the next float down, or towards zero, where the nearest one is beyond. */
#define TOWARDS(beyond, to)                                                                                                 \
    "  %r = fptrunc double %s to float\n"                                                                                   \
    "  %w = fpext float %r to double\n"                                                                                     \
    "  %i = bitcast float %r to i32\n"                                                                                      \
    "  %d = add i32 %i, -1\n"                                                                                               \
    "  %u = add i32 %i, 1\n" beyond "  %n = select i1 %c, i32 " to ", i32 %i\n"                                             \
    "  %y = bitcast i32 %n to float\n"
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
                                 "declare float @llvm.trunc.f32(float)\n"
                                 "declare float @llvm.floor.f32(float)\n"
                                 "declare float @llvm.sqrt.f32(float)\n"
                                 "declare float @llvm.fma.f32(float, float, float)\n"
                                 "declare float @llvm.minnum.f32(float, float)\n"
                                 "declare float @llvm.maxnum.f32(float, float)\n"
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
    SINGLE_GENERIC("fabs", "float %x", "llvm.fabs.f32")                                   //
    SINGLE_GENERIC("trunc", "float %x", "llvm.trunc.f32")                                 //
    SINGLE_GENERIC("floor", "float %x", "llvm.floor.f32")                                 //
    SINGLE_GENERIC("sqrt.rn", "float %x", "llvm.sqrt.f32")                                //
    SINGLE_GENERIC("sqrt.approx", "float %x", "llvm.sqrt.f32")                            //
    SINGLE_GENERIC("fma.rn", "float %a, float %b, float %c", "llvm.fma.f32")              //
    SINGLE_OP("add.rn", "fadd")                                                           //
    SINGLE_OP("sub.rn", "fsub")                                                           //
    SINGLE_OP("mul.rn", "fmul")                                                           //
    SINGLE_OP("div.rn", "fdiv")                                                           //
    SINGLE_OP("div.approx", "fdiv")                                                       //
    SINGLE("rcp.approx", "float %x", "  %y = fdiv float 1.0, %x\n")                       //
    SINGLE("rsqrt.approx", "float %x",
           "  %r = call float @llvm.sqrt.f32(float %x)\n"
           "  %y = fdiv float 1.0, %r\n") //
    SINGLE("saturate", "float %x",
           "  %p = call float @llvm.maxnum.f32(float %x, float 0.0)\n"
           "  %y = call float @llvm.minnum.f32(float %p, float 1.0)\n") //
    SINGLE("add.rz", "float %a, float %b",
           "  %p = fpext float %a to double\n"
           "  %q = fpext float %b to double\n"
           "  %s = fadd double %p, %q\n" TOWARDS("  %v = call double @llvm.fabs.f64(double %s)\n"
                                                 "  %x = call double @llvm.fabs.f64(double %w)\n"
                                                 "  %c = fcmp ogt double %x, %v\n",
                                                 "%d")) //
    SINGLE("fma.rm", "float %a, float %b, float %z",
           "  %p = fpext float %a to double\n"
           "  %q = fpext float %b to double\n"
           "  %o = fpext float %z to double\n"
           "  %m = fmul double %p, %q\n"
           "  %s = fadd double %m, %o\n" TOWARDS("  %c = fcmp ogt double %w, %s\n"
                                                 "  %g = icmp slt i32 %i, 0\n"
                                                 "  %h = select i1 %g, i32 %u, i32 %d\n",
                                                 "%h"))                         //
    SINGLE_GENERIC("round", "float %x", "llvm.rint.f32")                        //
    SINGLE_GENERIC("ex2.approx", "float %x", "llvm.exp2.f32")                   //
    SINGLE_GENERIC("lg2.approx", "float %x", "llvm.log2.f32")                   //
    NEAREST("d2i.rn", "double", "llvm.rint.f64", "llvm.fptosi.sat.i32.f64")     //
    NEAREST("f2i.rn", "float", "llvm.rint.f32", "llvm.fptosi.sat.i32.f32")      //
    NEAREST("f2i.rn.ftz", "float", "llvm.rint.f32", "llvm.fptosi.sat.i32.f32")  //
    NEAREST("f2i.rz", "float", "llvm.trunc.f32", "llvm.fptosi.sat.i32.f32")     //
    NEAREST("f2i.rz.ftz", "float", "llvm.trunc.f32", "llvm.fptosi.sat.i32.f32") //
    ROUGHLY("rcp.approx.ftz.d", "  %q = fdiv double 1.0, %u\n")                 //
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
    FUNCTION("mad.half", "{i32, i32}", "i32 %a, i32 %b, i32 %c",
             "  %d = zext i32 %a to i64\n"
             "  %e = zext i32 %b to i64\n"
             "  %f = zext i32 %c to i64\n"
             "  %p = mul i64 %d, %e\n"
             "  %w = add i64 %p, %f\n"
             "  %l = trunc i64 %w to i32\n"
             "  %g = lshr i64 %w, 32\n"
             "  %h = trunc i64 %g to i32\n"
             "  %i = insertvalue {i32, i32} poison, i32 %l, 0\n"
             "  %y = insertvalue {i32, i32} %i, i32 %h, 1\n") //
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
