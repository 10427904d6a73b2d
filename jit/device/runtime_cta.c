/* runtime_cta.c: what a kernel calls that has a CTA for each instance, as runtime.c has the rest.
 *
 * Its memory that all threads of the CTA see begins with which block within they are to run, and whether one has failed: a
 * thread that fails says so and exits, and the others exit where they meet next. A barrier does not wait for who has
 * exited. */
#include "device.h"

#include <stddef.h>

/* begin: by all threads, before they meet first. This and the next are inlined once the instance is, whose blocks are told
 * from the kernel's own by that. meet: all that was written before is seen behind it. All are at the same place, of those
 * that a kernel has. add_met: like add_entry (runtime.c), up to *end. add_all_met: n of such, each by the thread that has
 * the element. may_be_alike, look_alike: *flag is 0, and then 1 where not all m instances add to the same elements in the
 * same order, `each` additions; else link_same, where they meet, and add_alike do the same as add_all_met: an element is the
 * thread's that has the first addition to it, and that has the next one in place of the second instance's address (0: there
 * is none), negative where it is not the first itself, or none. is_summed: whether it is one of the elements that gain by
 * groups of eight, `summed` as rvm__aside_ranges has them. add_alike sums what each instance adds to such on its own, and
 * these by the tree of each group, of which the first one lacks `pad` instances; so does sum_groups, before add_all_met: the
 * first addition of a group to an element becomes the group's sum, its others -0. add_any: to a whole number, wherever it
 * is. lacks_met: as lacks_slots. lacks_slots: an instance of a block within has more additions than are kept. add_together:
 * what all threads of each warp have. add_own: to an element that no other thread adds to before they meet. sum_parts,
 * sum_tree: what m instances of a chunk of a block within add to a register, n terms each of which the first stand `stride`
 * elements apart, is summed into eight parts, upwards or downwards; those in pairs, and that to *sum. */
#define MEETS "define void @rvm.device.barrier(i32 %place) alwaysinline convergent nounwind {\n"
#define FENCE "define void @rvm.device.fence() alwaysinline nounwind {\n"
const char rvm__cta_device[] = "declare void @llvm.nvvm.barrier.sync(i32)\n"
                               "declare void @llvm.nvvm.membar.cta()\n" MEETS "  call void @llvm.nvvm.barrier.sync(i32 0)\n"
                               "  ret void\n"
                               "}\n" FENCE "  call void @llvm.nvvm.membar.cta()\n"
                               "  ret void\n"
                               "}\n";
const char rvm__cta_grid[] = "declare void @rvm_grid_barrier(i32)\n" MEETS "  call void @rvm_grid_barrier(i32 %place)\n"
                             "  ret void\n"
                             "}\n" FENCE "  ret void\n"
                             "}\n";

#define SUMS(T, ADD, NONE)                                                                                                  \
    "(ptr %terms, i64 %m, i64 %stride, i64 %n, i64 %up, i64 %tid, ptr %parts) alwaysinline nounwind {\n"                    \
    "entry:\n"                                                                                                              \
    "  %is = icmp ult i64 %tid, 8\n"                                                                                        \
    "  br i1 %is, label %begin, label %on\n"                                                                                \
    "begin:\n"                                                                                                              \
    "  %some = icmp ugt i64 %m, %tid\n"                                                                                     \
    "  %behind = sub i64 %m, %tid\n"                                                                                        \
    "  %more = add i64 %behind, 7\n"                                                                                        \
    "  %whole = lshr i64 %more, 3\n"                                                                                        \
    "  %count = select i1 %some, i64 %whole, i64 0\n"                                                                       \
    "  %before = sub i64 %count, 1\n"                                                                                       \
    "  %way = shl i64 %before, 3\n"                                                                                         \
    "  %last = add i64 %tid, %way\n"                                                                                        \
    "  %ascends = icmp ne i64 %up, 0\n"                                                                                     \
    "  %first = select i1 %ascends, i64 %tid, i64 %last\n"                                                                  \
    "  %step = select i1 %ascends, i64 8, i64 -8\n"                                                                         \
    "  br label %head\n"                                                                                                    \
    "head:\n"                                                                                                               \
    "  %i = phi i64 [0, %begin], [%j, %next]\n"                                                                             \
    "  %k = phi i64 [%first, %begin], [%l, %next]\n"                                                                        \
    "  %s = phi " T " [" NONE ", %begin], [%a, %next]\n"                                                                    \
    "  %left = icmp ult i64 %i, %count\n"                                                                                   \
    "  br i1 %left, label %instance, label %done\n"                                                                         \
    "instance:\n"                                                                                                           \
    "  %row = mul i64 %k, %stride\n"                                                                                        \
    "  br label %terms.head\n"                                                                                              \
    "terms.head:\n"                                                                                                         \
    "  %t = phi i64 [0, %instance], [%u, %add]\n"                                                                           \
    "  %a = phi " T " [%s, %instance], [%b, %add]\n"                                                                        \
    "  %go = icmp ult i64 %t, %n\n"                                                                                         \
    "  br i1 %go, label %add, label %next\n"                                                                                \
    "add:\n"                                                                                                                \
    "  %at = add i64 %row, %t\n"                                                                                            \
    "  %p = getelementptr i64, ptr %terms, i64 %at\n"                                                                       \
    "  %x = load " T ", ptr %p\n"                                                                                           \
    "  %b = " ADD " " T " %a, %x\n"                                                                                         \
    "  %u = add i64 %t, 1\n"                                                                                                \
    "  br label %terms.head\n"                                                                                              \
    "next:\n"                                                                                                               \
    "  %j = add i64 %i, 1\n"                                                                                                \
    "  %l = add i64 %k, %step\n"                                                                                            \
    "  br label %head\n"                                                                                                    \
    "done:\n"                                                                                                               \
    "  %q = getelementptr i64, ptr %parts, i64 %tid\n"                                                                      \
    "  store " T " %s, ptr %q\n"                                                                                            \
    "  br label %on\n"                                                                                                      \
    "on:\n"                                                                                                                 \
    "  ret void\n"                                                                                                          \
    "}\n"
#define PART(T, k)                                                                                                          \
    "  %q" #k " = getelementptr i64, ptr %parts, i64 " #k "\n"                                                              \
    "  %p" #k " = load " T ", ptr %q" #k "\n"
#define SUM_OF_TREE(T, ADD)                                                                                                 \
    "  %a = " ADD " " T " %p0, %p4\n"                                                                                       \
    "  %b = " ADD " " T " %p2, %p6\n"                                                                                       \
    "  %c = " ADD " " T " %p1, %p5\n"                                                                                       \
    "  %d = " ADD " " T " %p3, %p7\n"                                                                                       \
    "  %e = " ADD " " T " %a, %b\n"                                                                                         \
    "  %f = " ADD " " T " %c, %d\n"                                                                                         \
    "  %g = " ADD " " T " %e, %f\n"
/* Sums of a group's instances: what number k of them is so far; it is what instance j has; those that there are, loaded. */
#define HELD(k) "  %p" #k " = phi double [-0.0, %ask], [%q" #k ", %put]\n"
#define PUT(k)                                                                                                              \
    "  %is" #k " = icmp eq i64 %j, " #k "\n"                                                                                \
    "  %q" #k " = select i1 %is" #k ", double %s, double %p" #k "\n"
#define IN_GROUP(k)                                                                                                         \
    "  %r" #k " = add i64 %g, " #k "\n"                                                                                     \
    "  %is" #k " = icmp ult i64 %r" #k ", %m\n"                                                                             \
    "  %some" #k " = select i1 %is" #k ", i64 %r" #k ", i64 0\n"                                                            \
    "  %row" #k " = mul i64 %some" #k ", %each\n"                                                                           \
    "  %at" #k " = add i64 %row" #k ", %a\n"                                                                                \
    "  %entry" #k " = getelementptr [2 x i64], ptr %met, i64 %at" #k "\n"                                                   \
    "  %where" #k " = getelementptr i8, ptr %entry" #k ", i64 8\n"                                                          \
    "  %x" #k " = load double, ptr %where" #k "\n"                                                                          \
    "  %p" #k " = select i1 %is" #k ", double %x" #k ", double -0.0\n"
#define CALL_TREE                                                                                                           \
    "  %tree = call double @rvm.device.tree(double %p0, double %p1, double %p2, double %p3, double %p4, double %p5, "       \
    "double "                                                                                                               \
    "%p6, double %p7)\n"
#define TREE(T, ADD)                                                                                                        \
    "(ptr %parts, ptr %sum, i64 %tid) alwaysinline nounwind {\n"                                                            \
    "  %is = icmp eq i64 %tid, 0\n"                                                                                         \
    "  br i1 %is, label %add, label %on\n"                                                                                  \
    "add:\n" PART(T, 0) PART(T, 1) PART(T, 2) PART(T, 3) PART(T, 4) PART(T, 5) PART(T, 6) PART(T, 7)                        \
        SUM_OF_TREE(T, ADD) "  %was = load " T ", ptr %sum\n"                                                               \
                            "  %now = " ADD " " T " %was, %g\n"                                                             \
                            "  store " T " %now, ptr %sum\n"                                                                \
                            "  br label %on\n"                                                                              \
                            "on:\n"                                                                                         \
                            "  ret void\n"                                                                                  \
                            "}\n"

const char rvm__cta_both[] =
    "define void @rvm.device.begin(ptr %shared, i64 %tid) nounwind {\n"
    "  %is = icmp eq i64 %tid, 0\n"
    "  br i1 %is, label %first, label %on\n"
    "first:\n"
    "  %failed = getelementptr i8, ptr %shared, i64 8\n"
    "  store i64 0, ptr %failed\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.meet(ptr %shared, i32 %place) convergent nounwind {\n"
    "  call void @rvm.device.barrier(i32 %place)\n"
    "  %failed = getelementptr i8, ptr %shared, i64 8\n"
    "  %any = load i64, ptr %failed\n"
    "  %is = icmp ne i64 %any, 0\n"
    "  br i1 %is, label %leave, label %on\n"
    "leave:\n"
    "  call void @rvm.device.exit()\n"
    "  unreachable\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.fail_all(i1 %c, ptr %control, i64 %number, ptr %shared) alwaysinline nounwind {\n"
    "  br i1 %c, label %fail, label %on\n"
    "fail:\n"
    "  %q = addrspacecast ptr %control to ptr addrspace(1)\n"
    "  %was = atomicrmw umin ptr addrspace(1) %q, i64 %number monotonic\n"
    "  %failed = getelementptr i8, ptr %shared, i64 8\n"
    "  store i64 1, ptr %failed\n"
    "  call void @rvm.device.fence()\n"
    "  call void @rvm.device.exit()\n"
    "  unreachable\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define i1 @rvm.device.lacks_room(ptr %needed, i64 %used, i64 %each) alwaysinline nounwind {\n"
    "  %beyond = icmp ugt i64 %used, %each\n"
    "  br i1 %beyond, label %ask, label %on\n"
    "ask:\n"
    "  %q = addrspacecast ptr %needed to ptr addrspace(1)\n"
    "  %was = atomicrmw umax ptr addrspace(1) %q, i64 %used monotonic\n"
    "  br label %on\n"
    "on:\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define i1 @rvm.device.lacks_slots(ptr %control, i64 %used, i64 %each) alwaysinline nounwind {\n"
    "  %needed = getelementptr i8, ptr %control, i64 80\n"
    "  %beyond = call i1 @rvm.device.lacks_room(ptr %needed, i64 %used, i64 %each)\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define i1 @rvm.device.lacks_met(ptr %control, i64 %used, i64 %each) alwaysinline nounwind {\n"
    "  %needed = getelementptr i8, ptr %control, i64 112\n"
    "  %beyond = call i1 @rvm.device.lacks_room(ptr %needed, i64 %used, i64 %each)\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define void @rvm.device.add_met(ptr %p, double %x, ptr %slot, ptr %met, ptr %end) alwaysinline nounwind {\n"
    "  %s = load i64, ptr %slot\n"
    "  %t = add i64 %s, 1\n"
    "  store i64 %t, ptr %slot\n"
    "  %e = load i64, ptr %end\n"
    "  %fits = icmp ult i64 %s, %e\n"
    "  br i1 %fits, label %keep, label %on\n"
    "keep:\n"
    "  %all = load ptr, ptr %met\n"
    "  %to = getelementptr [2 x i64], ptr %all, i64 %s\n"
    "  store ptr %p, ptr %to\n"
    "  %term = getelementptr i8, ptr %to, i64 8\n"
    "  store double %x, ptr %term\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_any(ptr %p, i64 %x) alwaysinline nounwind {\n"
    "  %was = atomicrmw add ptr %p, i64 %x monotonic\n"
    "  ret void\n"
    "}\n"
    "declare i64 @llvm.ctlz.i64(i64, i1)\n"
    "define void @rvm.device.add_all_met(ptr %met, i64 %n, i64 %tid, i64 %threads) alwaysinline nounwind {\n"
    "entry:\n"
    "  %zeros = call i64 @llvm.ctlz.i64(i64 %threads, i1 true)\n"
    "  %bit = sub i64 63, %zeros\n"
    "  %parts = shl i64 1, %bit\n" /* no more than threads */
    "  %mask = sub i64 %parts, 1\n"
    "  %has = icmp ult i64 %tid, %parts\n"
    "  br i1 %has, label %head, label %done\n"
    "head:\n"
    "  %k = phi i64 [0, %entry], [%l, %next]\n"
    "  %at = phi ptr [null, %entry], [%is, %next]\n"
    "  %sum = phi double [0.0, %entry], [%total, %next]\n"
    "  %more = icmp ult i64 %k, %n\n"
    "  br i1 %more, label %look, label %last\n"
    "look:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %k\n"
    "  %a = load i64, ptr %one\n"
    "  %e = lshr i64 %a, 3\n"
    "  %part = and i64 %e, %mask\n"
    "  %owns = icmp eq i64 %part, %tid\n"
    "  %some = icmp ne i64 %a, 0\n"
    "  %mine = and i1 %owns, %some\n"
    "  br i1 %mine, label %take, label %next\n"
    "take:\n"
    "  %p = inttoptr i64 %a to ptr\n"
    "  %where = getelementptr i8, ptr %one, i64 8\n"
    "  %x = load double, ptr %where\n"
    "  %same = icmp eq ptr %p, %at\n"
    "  br i1 %same, label %add, label %other\n"
    "other:\n"
    "  %any = icmp ne ptr %at, null\n"
    "  br i1 %any, label %put, label %get\n"
    "put:\n"
    "  store double %sum, ptr %at\n"
    "  br label %get\n"
    "get:\n"
    "  %was = load double, ptr %p\n"
    "  br label %add\n"
    "add:\n"
    "  %before = phi double [%sum, %take], [%was, %get]\n"
    "  %behind = fadd double %before, %x\n"
    "  br label %next\n"
    "next:\n"
    "  %is = phi ptr [%at, %look], [%p, %add]\n"
    "  %total = phi double [%sum, %look], [%behind, %add]\n"
    "  %l = add i64 %k, 1\n"
    "  br label %head\n"
    "last:\n"
    "  %left = icmp ne ptr %at, null\n"
    "  br i1 %left, label %end, label %done\n"
    "end:\n"
    "  store double %sum, ptr %at\n"
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.may_be_alike(ptr %flag, i64 %tid) alwaysinline nounwind {\n"
    "  %is = icmp eq i64 %tid, 0\n"
    "  br i1 %is, label %first, label %on\n"
    "first:\n"
    "  store i64 0, ptr %flag\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.look_alike(ptr %met, i64 %m, i64 %each, i64 %tid, i64 %threads, ptr %flag) alwaysinline "
    "nounwind {\n"
    "entry:\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%tid, %entry], [%b, %next]\n"
    "  %more = icmp ult i64 %a, %each\n"
    "  br i1 %more, label %begin, label %done\n"
    "begin:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %p = load i64, ptr %one\n"
    "  br label %rows\n"
    "rows:\n"
    "  %i = phi i64 [1, %begin], [%j, %same]\n"
    "  %k = phi i64 [%a, %begin], [%l, %same]\n"
    "  %left = icmp ult i64 %i, %m\n"
    "  br i1 %left, label %row, label %next\n"
    "row:\n"
    "  %l = add i64 %k, %each\n"
    "  %other = getelementptr [2 x i64], ptr %met, i64 %l\n"
    "  %q = load i64, ptr %other\n"
    "  %is = icmp eq i64 %p, %q\n"
    "  br i1 %is, label %same, label %differ\n"
    "same:\n"
    "  %j = add i64 %i, 1\n"
    "  br label %rows\n"
    "differ:\n"
    "  store i64 1, ptr %flag\n"
    "  br label %done\n"
    "next:\n"
    "  %b = add i64 %a, %threads\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define i64 @rvm.device.find_same(ptr %met, i64 %p, i64 %from, i64 %to) alwaysinline nounwind {\n"
    "entry:\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%from, %entry], [%b, %next]\n"
    "  %more = icmp ult i64 %a, %to\n"
    "  br i1 %more, label %look, label %done\n"
    "look:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %q = load i64, ptr %one\n"
    "  %is = icmp eq i64 %p, %q\n"
    "  br i1 %is, label %done, label %next\n"
    "next:\n"
    "  %b = add i64 %a, 1\n"
    "  br label %head\n"
    "done:\n"
    "  ret i64 %a\n"
    "}\n"
    "define void @rvm.device.link_same(ptr %met, i64 %each, i64 %tid, i64 %threads) alwaysinline nounwind {\n"
    "entry:\n"
    "  %second = getelementptr [2 x i64], ptr %met, i64 %each\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%tid, %entry], [%b, %look]\n"
    "  %more = icmp ult i64 %a, %each\n"
    "  br i1 %more, label %look, label %done\n"
    "look:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %p = load i64, ptr %one\n"
    "  %before = call i64 @rvm.device.find_same(ptr %met, i64 %p, i64 0, i64 %a)\n"
    "  %follows = icmp ult i64 %before, %a\n"
    "  %b1 = add i64 %a, 1\n"
    "  %behind = call i64 @rvm.device.find_same(ptr %met, i64 %p, i64 %b1, i64 %each)\n"
    "  %any = icmp ult i64 %behind, %each\n"
    "  %then = select i1 %any, i64 %behind, i64 0\n"
    "  %none = icmp eq i64 %p, 0\n"
    "  %skip = or i1 %follows, %none\n"
    "  %mark = select i1 %skip, i64 -9223372036854775808, i64 0\n"
    "  %link = or i64 %then, %mark\n"
    "  %to = getelementptr [2 x i64], ptr %second, i64 %a\n"
    "  store i64 %link, ptr %to\n"
    "  %b = add i64 %a, %threads\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define i1 @rvm.device.is_summed(ptr %summed, i64 %p) alwaysinline nounwind {\n"
    "entry:\n"
    "  %n = load i64, ptr %summed\n"
    "  br label %arrays\n"
    "arrays:\n"
    "  %a = phi i64 [0, %entry], [%b, %other]\n"
    "  %at = phi ptr [%summed, %entry], [%behind, %other]\n"
    "  %more = icmp ult i64 %a, %n\n"
    "  br i1 %more, label %array, label %done\n"
    "array:\n"
    "  %data.at = getelementptr i64, ptr %at, i64 1\n"
    "  %data = load i64, ptr %data.at\n"
    "  %ndim.at = getelementptr i64, ptr %at, i64 2\n"
    "  %ndim = load i64, ptr %ndim.at\n"
    "  %begin = sub i64 %p, %data\n"
    "  br label %dims\n"
    "dims:\n"
    "  %d = phi i64 [0, %array], [%c, %dim]\n"
    "  %way = phi i64 [%begin, %array], [%rest, %dim]\n"
    "  %left = icmp ult i64 %d, %ndim\n"
    "  br i1 %left, label %dim, label %end\n"
    "dim:\n"
    "  %two = shl i64 %d, 1\n"
    "  %three = getelementptr i64, ptr %at, i64 3\n"
    "  %stride.at = getelementptr i64, ptr %three, i64 %two\n"
    "  %stride = load i64, ptr %stride.at\n"
    "  %last.at = getelementptr i64, ptr %stride.at, i64 1\n"
    "  %last = load i64, ptr %last.at\n"
    "  %still = icmp eq i64 %stride, 0\n"
    "  %by = select i1 %still, i64 1, i64 %stride\n"
    "  %whole = udiv i64 %way, %by\n"
    "  %fits = icmp ult i64 %whole, %last\n"
    "  %i = select i1 %fits, i64 %whole, i64 %last\n"
    "  %taken = mul i64 %i, %stride\n"
    "  %rest = sub i64 %way, %taken\n"
    "  %c = add i64 %d, 1\n"
    "  br label %dims\n"
    "end:\n"
    "  %is = icmp eq i64 %way, 0\n"
    "  br i1 %is, label %done, label %other\n"
    "other:\n"
    "  %b = add i64 %a, 1\n"
    "  %behind = getelementptr i64, ptr %at, i64 10\n"
    "  br label %arrays\n"
    "done:\n"
    "  %found = phi i1 [false, %arrays], [true, %end]\n"
    "  ret i1 %found\n"
    "}\n"
    "define double @rvm.device.tree(double %p0, double %p1, double %p2, double %p3, double %p4, double %p5, double %p6, "
    "double "
    "%p7) alwaysinline nounwind {\n" SUM_OF_TREE(
        "double", "fadd") "  ret double %g\n"
                          "}\n"
                          "define void @rvm.device.sum_groups(ptr %met, i64 %m, i64 %each, i64 %pad, ptr %summed, i64 %tid, "
                          "i64 %threads) "
                          "alwaysinline nounwind {\n"
                          "entry:\n"
                          "  %all = mul i64 %m, %each\n"
                          "  br label %head\n"
                          "head:\n"
                          "  %q = phi i64 [%tid, %entry], [%l, %next]\n"
                          "  %more = icmp ult i64 %q, %all\n"
                          "  br i1 %more, label %look, label %done\n"
                          "look:\n"
                          "  %one = getelementptr [2 x i64], ptr %met, i64 %q\n"
                          "  %p = load i64, ptr %one\n"
                          "  %none = icmp eq i64 %p, 0\n"
                          "  br i1 %none, label %next, label %group\n"
                          "group:\n"
                          "  %row = udiv i64 %q, %each\n"
                          "  %place = add i64 %row, %pad\n"
                          "  %whole = and i64 %place, -8\n"
                          "  %first = sub i64 %whole, %pad\n"
                          "  %lacks = icmp slt i64 %first, 0\n"
                          "  %begin = select i1 %lacks, i64 0, i64 %first\n"
                          "  %from = mul i64 %begin, %each\n"
                          "  %before = call i64 @rvm.device.find_same(ptr %met, i64 %p, i64 %from, i64 %q)\n"
                          "  %follows = icmp ult i64 %before, %q\n"
                          "  br i1 %follows, label %next, label %ask\n"
                          "ask:\n"
                          "  %is = call i1 @rvm.device.is_summed(ptr %summed, i64 %p)\n"
                          "  br i1 %is, label %rows, label %next\n"
                          "rows:\n"
                          "  %j = phi i64 [0, %ask], [%i, %put]\n" HELD(0) HELD(1) HELD(2) HELD(3) HELD(4) HELD(5) HELD(6)
                              HELD(7) //
    "  %left = icmp ult i64 %j, 8\n"
    "  br i1 %left, label %instance, label %sum\n"
    "instance:\n"
    "  %r = add i64 %first, %j\n"
    "  %there = icmp ult i64 %r, %m\n"
    "  %a = mul i64 %r, %each\n"
    "  %b = add i64 %a, %each\n"
    "  br label %terms\n"
    "terms:\n"
    "  %k = phi i64 [%a, %instance], [%c, %other]\n"
    "  %s = phi double [-0.0, %instance], [%v, %other]\n"
    "  %behind = icmp ult i64 %k, %b\n"
    "  %go = and i1 %behind, %there\n"
    "  br i1 %go, label %term, label %put\n"
    "term:\n"
    "  %it = getelementptr [2 x i64], ptr %met, i64 %k\n"
    "  %e = load i64, ptr %it\n"
    "  %same = icmp eq i64 %e, %p\n"
    "  br i1 %same, label %add, label %other\n"
    "add:\n"
    "  %where = getelementptr i8, ptr %it, i64 8\n"
    "  %x = load double, ptr %where\n"
    "  %t = fadd double %s, %x\n"
    "  store double -0.0, ptr %where\n"
    "  br label %other\n"
    "other:\n"
    "  %v = phi double [%s, %term], [%t, %add]\n"
    "  %c = add i64 %k, 1\n"
    "  br label %terms\n"
    "put:\n" PUT(0) PUT(1) PUT(2) PUT(3) PUT(4) PUT(5) PUT(6) PUT(7) //
    "  %i = add i64 %j, 1\n"
    "  br label %rows\n"
    "sum:\n" CALL_TREE //
    "  %to = getelementptr i8, ptr %one, i64 8\n"
    "  store double %tree, ptr %to\n"
    "  br label %next\n"
    "next:\n"
    "  %l = add i64 %q, %threads\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_alike(ptr %met, i64 %m, i64 %each, i64 %pad, ptr %summed, i64 %tid, i64 %threads) "
    "alwaysinline nounwind {\n"
    "entry:\n"
    "  %second = getelementptr [2 x i64], ptr %met, i64 %each\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%tid, %entry], [%b, %next]\n"
    "  %more = icmp ult i64 %a, %each\n"
    "  br i1 %more, label %look, label %done\n"
    "look:\n"
    "  %links = getelementptr [2 x i64], ptr %second, i64 %a\n"
    "  %link = load i64, ptr %links\n"
    "  %follows = icmp slt i64 %link, 0\n"
    "  br i1 %follows, label %next, label %begin\n"
    "begin:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %p = load ptr, ptr %one\n"
    "  %was = load double, ptr %p\n"
    "  %alone = icmp eq i64 %link, 0\n"
    "  %address = ptrtoint ptr %p to i64\n"
    "  %is = call i1 @rvm.device.is_summed(ptr %summed, i64 %address)\n"
    "  br i1 %is, label %apart, label %one.by.one\n"
    "apart:\n"
    "  br i1 %alone, label %by.groups, label %own\n"
    "own:\n"
    "  %oi = phi i64 [0, %apart], [%oj, %owned]\n"
    "  %ok = phi i64 [0, %apart], [%ol, %owned]\n"
    "  %oleft = icmp ult i64 %oi, %m\n"
    "  br i1 %oleft, label %own.head, label %by.groups\n"
    "own.head:\n"
    "  %oq = phi i64 [%a, %own], [%or, %own.head]\n"
    "  %ou = phi double [-0.0, %own], [%ot, %own.head]\n"
    "  %okq = add i64 %ok, %oq\n"
    "  %oentry = getelementptr [2 x i64], ptr %met, i64 %okq\n"
    "  %owhere = getelementptr i8, ptr %oentry, i64 8\n"
    "  %ox = load double, ptr %owhere\n"
    "  %ot = fadd double %ou, %ox\n"
    "  %olinks = getelementptr [2 x i64], ptr %second, i64 %oq\n"
    "  %olink = load i64, ptr %olinks\n"
    "  %or = and i64 %olink, 9223372036854775807\n"
    "  %oends = icmp eq i64 %or, 0\n"
    "  br i1 %oends, label %owned, label %own.head\n"
    "owned:\n"
    "  %oka = add i64 %ok, %a\n"
    "  %ofirst = getelementptr [2 x i64], ptr %met, i64 %oka\n"
    "  %oto = getelementptr i8, ptr %ofirst, i64 8\n"
    "  store double %ot, ptr %oto\n"
    "  %oj = add i64 %oi, 1\n"
    "  %ol = add i64 %ok, %each\n"
    "  br label %own\n"
    "by.groups:\n"
    "  %lacking = sub i64 0, %pad\n"
    "  br label %groups\n"
    "groups:\n"
    "  %g = phi i64 [%lacking, %by.groups], [%h, %group]\n"
    "  %part = phi double [%was, %by.groups], [%whole, %group]\n"
    "  %gleft = icmp slt i64 %g, %m\n"
    "  br i1 %gleft, label %group, label %put\n"
    "group:\n" IN_GROUP(0) IN_GROUP(1) IN_GROUP(2) IN_GROUP(3) IN_GROUP(4) IN_GROUP(5) IN_GROUP(6) IN_GROUP(7) CALL_TREE //
    "  %whole = fadd double %part, %tree\n"
    "  %h = add i64 %g, 8\n"
    "  br label %groups\n"
    "one.by.one:\n"
    "  br i1 %alone, label %rows, label %chain\n"
    "rows:\n"
    "  %i = phi i64 [0, %one.by.one], [%j, %row]\n"
    "  %k = phi i64 [%a, %one.by.one], [%l, %row]\n"
    "  %s = phi double [%was, %one.by.one], [%t, %row]\n"
    "  %left = icmp ult i64 %i, %m\n"
    "  br i1 %left, label %row, label %put\n"
    "row:\n"
    "  %entry.of = getelementptr [2 x i64], ptr %met, i64 %k\n"
    "  %where = getelementptr i8, ptr %entry.of, i64 8\n"
    "  %x = load double, ptr %where\n"
    "  %t = fadd double %s, %x\n"
    "  %j = add i64 %i, 1\n"
    "  %l = add i64 %k, %each\n"
    "  br label %rows\n"
    "chain:\n"
    "  %ci = phi i64 [0, %one.by.one], [%cj, %chained]\n"
    "  %ck = phi i64 [0, %one.by.one], [%cl, %chained]\n"
    "  %cs = phi double [%was, %one.by.one], [%ct, %chained]\n"
    "  %cleft = icmp ult i64 %ci, %m\n"
    "  br i1 %cleft, label %links.head, label %put\n"
    "links.head:\n"
    "  %q = phi i64 [%a, %chain], [%r, %links.head]\n"
    "  %u = phi double [%cs, %chain], [%ct, %links.head]\n"
    "  %ckq = add i64 %ck, %q\n"
    "  %centry = getelementptr [2 x i64], ptr %met, i64 %ckq\n"
    "  %cwhere = getelementptr i8, ptr %centry, i64 8\n"
    "  %cx = load double, ptr %cwhere\n"
    "  %ct = fadd double %u, %cx\n"
    "  %clinks = getelementptr [2 x i64], ptr %second, i64 %q\n"
    "  %clink = load i64, ptr %clinks\n"
    "  %r = and i64 %clink, 9223372036854775807\n"
    "  %ends = icmp eq i64 %r, 0\n"
    "  br i1 %ends, label %chained, label %links.head\n"
    "chained:\n"
    "  %cj = add i64 %ci, 1\n"
    "  %cl = add i64 %ck, %each\n"
    "  br label %chain\n"
    "put:\n"
    "  %sum = phi double [%s, %rows], [%cs, %chain], [%part, %groups]\n"
    "  store double %sum, ptr %p\n"
    "  br label %next\n"
    "next:\n"
    "  %b = add i64 %a, %threads\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_together(ptr %p, i64 %x, i32 %lane) alwaysinline convergent nounwind {\n"
    "  %a = call i64 @rvm.device.exchange(i64 %x, i32 -1, i32 16)\n"
    "  %s = add i64 %x, %a\n"
    "  %b = call i64 @rvm.device.exchange(i64 %s, i32 -1, i32 8)\n"
    "  %t = add i64 %s, %b\n"
    "  %c = call i64 @rvm.device.exchange(i64 %t, i32 -1, i32 4)\n"
    "  %u = add i64 %t, %c\n"
    "  %d = call i64 @rvm.device.exchange(i64 %u, i32 -1, i32 2)\n"
    "  %v = add i64 %u, %d\n"
    "  %e = call i64 @rvm.device.exchange(i64 %v, i32 -1, i32 1)\n"
    "  %w = add i64 %v, %e\n"
    "  %first = icmp eq i32 %lane, 0\n"
    "  br i1 %first, label %add, label %on\n"
    "add:\n"
    "  %was = atomicrmw add ptr %p, i64 %w monotonic\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_own(ptr %p, double %x) alwaysinline nounwind {\n"
    "  %q = addrspacecast ptr %p to ptr addrspace(1)\n"
    "  %was = load double, ptr addrspace(1) %q\n"
    "  %is = fadd double %was, %x\n"
    "  store double %is, ptr addrspace(1) %q\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.sum_parts.f64" SUMS("double", "fadd", "-0.0") //
    "define void @rvm.device.sum_parts.i64" SUMS("i64", "add", "0")        //
    "define void @rvm.device.sum_tree.f64" TREE("double", "fadd")          //
    "define void @rvm.device.sum_tree.i64" TREE("i64", "add");

_Static_assert(offsetof(rvm__kernel_control, each) == 80 && offsetof(rvm__kernel_control, met) == 112,
               "as lacks_slots and lacks_met have them");
