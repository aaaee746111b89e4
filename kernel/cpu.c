/*
 * What the CPU can do. The floor is a 486: alignment check flag, CR0.WP, INVLPG. CPUID
 * came with later 486s; without it there is no TSC, no PSE, and the FPU is found by
 * asking it. Bits: Intel Architecture Software Developer's Manual, volume 2, CPUID.
 */
#include "kernel/cpu.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"

enum {
	EFLAGS_AC = 1 << 18, EFLAGS_ID = 1 << 21,
	CPUID_FPU = 1 << 0, CPUID_PSE = 1 << 3, CPUID_TSC = 1 << 4, CPUID_PGE = 1 << 13,
	CPUID_FXSR = 1 << 24, CPUID_SSE = 1 << 25,
	CR4_PSE = 1 << 4, CR4_PGE = 1 << 7, CR4_OSFXSR = 1 << 9, CR4_OSXMMEXCPT = 1 << 10,
	CR0_EM = 1 << 2, CR0_TS = 1 << 3,
	FPU_CONTROL_AFTER_INIT = 0x37f,
};
#define CPUID_BRAND_FIRST 0x80000002u
#define CPUID_BRAND_LAST  0x80000004u
#define CPUID_EXTENDED	  0x80000000u

struct cpuid { uint32_t eax, ebx, ecx, edx; };

uint32_t cpu_features;
uint32_t cpu_family = 4;
char cpu_name[49] = "i486";

static const struct { uint32_t cpuid; enum cpu_feature feature; } feature_bits[] = {
	{ CPUID_PSE, CPU_PSE }, { CPUID_TSC, CPU_TSC }, { CPUID_FXSR, CPU_FXSR },
	{ CPUID_PGE, CPU_PGE }, { CPUID_SSE, CPU_SSE },
};

static const struct { enum cpu_feature feature; const char *name; } feature_names[] = {
	{ CPU_FPU, "fpu" }, { CPU_CPUID, "cpuid" }, { CPU_TSC, "tsc" }, { CPU_PSE, "pse" },
	{ CPU_PGE, "pge" }, { CPU_FXSR, "fxsr" }, { CPU_SSE, "sse" },
};

/* Can this bit of EFLAGS be changed? */
static bool eflags_bit_works(uint32_t bit)
{
	uint32_t before, after;

	__asm__ volatile(
		"pushfl; popl %0; movl %0, %1; xorl %2, %1;"
		"pushl %1; popfl; pushfl; popl %1; pushl %0; popfl"
		: "=&r"(before), "=&r"(after) : "ri"(bit) : "cc");
	return ((before ^ after) & bit) != 0;
}

static struct cpuid cpuid(uint32_t leaf)
{
	struct cpuid r;

	__asm__ volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "a"(leaf), "c"(0));
	return r;
}

/* The brand string where there is one, else vendor and family. */
static void read_name(void)
{
	struct cpuid r = cpuid(0);
	char vendor[13] = "";

	memcpy(vendor, &r.ebx, 4);
	memcpy(vendor + 4, &r.edx, 4);
	memcpy(vendor + 8, &r.ecx, 4);
	ksnprintf(cpu_name, sizeof(cpu_name), "%s family %u", vendor, cpu_family);

	r = cpuid(CPUID_EXTENDED);
	if (r.eax < CPUID_BRAND_LAST || r.eax > CPUID_EXTENDED + 0xffff)
		return;
	for (uint32_t i = 0; i <= CPUID_BRAND_LAST - CPUID_BRAND_FIRST; i++) {
		r = cpuid(CPUID_BRAND_FIRST + i);
		memcpy(cpu_name + i * sizeof(r), &r, sizeof(r));
	}
}

/* fninit puts 0 in the status word and 0x37f in the control word; without an FPU both
 * stores leave memory as it was. */
static bool fpu_answers(void)
{
	uint16_t status = 0x5a5a, control = 0x5a5a;
	uint32_t cr0;

	__asm__ volatile("movl %%cr0, %0" : "=r"(cr0));
	cr0 &= ~(uint32_t)(CR0_EM | CR0_TS);
	__asm__ volatile("movl %0, %%cr0" : : "r"(cr0));
	__asm__ volatile("fninit; fnstsw %0; fnstcw %1" : "+m"(status), "+m"(control));
	return status == 0 && control == FPU_CONTROL_AFTER_INIT;
}

static void enable_features(void)
{
	uint32_t cr4 = 0;

	if (cpu_has(CPU_PSE))
		cr4 |= CR4_PSE;
	if (cpu_has(CPU_PGE))
		cr4 |= CR4_PGE;
	if (cpu_has(CPU_FXSR))
		cr4 |= CR4_OSFXSR;
	if (cpu_has(CPU_SSE))
		cr4 |= CR4_OSXMMEXCPT;
	if (cr4 != 0)			/* a CPU with none of them may lack CR4 */
		__asm__ volatile("movl %0, %%cr4" : : "r"(cr4));
}

void cpu_init(void)
{
	bool fpu = fpu_answers();

	if (!eflags_bit_works(EFLAGS_AC))
		panic("this CPU is a 386; Clockhand needs a 486 (CR0.WP and INVLPG)");
	cpu_features = CPU_INVLPG | CPU_WP;
	if (eflags_bit_works(EFLAGS_ID)) {
		struct cpuid r = cpuid(1);

		cpu_features |= CPU_CPUID;
		cpu_family = r.eax >> 8 & 15;
		for (unsigned i = 0; i < ARRAY_LEN(feature_bits); i++)
			if (r.edx & feature_bits[i].cpuid)
				cpu_features |= feature_bits[i].feature;
		fpu = fpu && (r.edx & CPUID_FPU);
		read_name();
	}
	if (fpu)
		cpu_features |= CPU_FPU;
	else
		cpu_features &= ~(uint32_t)(CPU_FXSR | CPU_SSE);
	enable_features();
	fpu_init();

	printk("cpu: %s,", cpu_name);
	for (unsigned i = 0; i < ARRAY_LEN(feature_names); i++)
		if (cpu_has(feature_names[i].feature))
			printk(" %s", feature_names[i].name);
	printk("%s\n", cpu_has(CPU_FPU) ? "" : " (no FPU)");
}
