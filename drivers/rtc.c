/*
 * The MC146818 real-time clock. Its registers may change while we read them: wait until
 * no update is in progress, and read until two readings agree.
 */
#include "drivers/rtc.h"

#include "kernel/cpu.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "kernel/time.h"

enum { PORT_INDEX = 0x70, PORT_DATA = 0x71 };
enum {
	REG_SECOND = 0x00, REG_MINUTE = 0x02, REG_HOUR = 0x04,
	REG_DAY = 0x07, REG_MONTH = 0x08, REG_YEAR = 0x09,
	REG_A = 0x0a, REG_B = 0x0b,
};
enum { A_UPDATING = 0x80, B_24_HOURS = 0x02, B_BINARY = 0x04, HOUR_PM = 0x80 };

/* An update takes 2 ms at most; twice that, and give up. */
enum { WAIT_STEP_US = 10, WAIT_STEPS = 400, READINGS_MAX = 4 };

struct rtc_time {
	uint8_t second, minute, hour, day, month, year;
};

static uint8_t reg_read(uint8_t reg)
{
	uint32_t flags = irq_save();
	uint8_t v;

	outb(PORT_INDEX, reg);
	v = inb(PORT_DATA);
	irq_restore(flags);
	return v;
}

/* Read all registers as they are, not in the middle of an update. */
static bool rtc_read_raw(struct rtc_time *t)
{
	unsigned step = 0;

	while ((reg_read(REG_A) & A_UPDATING) != 0) {
		if (++step > WAIT_STEPS)
			return false;
		delay_us(WAIT_STEP_US);
	}
	*t = (struct rtc_time){
		.second = reg_read(REG_SECOND), .minute = reg_read(REG_MINUTE),
		.hour = reg_read(REG_HOUR), .day = reg_read(REG_DAY),
		.month = reg_read(REG_MONTH), .year = reg_read(REG_YEAR),
	};
	return true;
}

static bool rtc_read_stable(struct rtc_time *t)
{
	struct rtc_time again;

	if (!rtc_read_raw(t))
		return false;
	for (unsigned n = 0; n < READINGS_MAX; n++) {
		if (!rtc_read_raw(&again))
			return false;
		if (memcmp(t, &again, sizeof(again)) == 0)
			return true;
		*t = again;
	}
	return false;
}

static uint8_t from_bcd(uint8_t v)
{
	return (uint8_t)((v >> 4) * 10 + (v & 15));
}

/* From the clock's own form (register B says which) to plain numbers, 24 hours. */
static void rtc_decode(struct rtc_time *t, uint8_t form)
{
	bool pm = (t->hour & HOUR_PM) != 0;

	t->hour &= (uint8_t)~HOUR_PM;
	if ((form & B_BINARY) == 0) {
		t->second = from_bcd(t->second);
		t->minute = from_bcd(t->minute);
		t->hour = from_bcd(t->hour);
		t->day = from_bcd(t->day);
		t->month = from_bcd(t->month);
		t->year = from_bcd(t->year);
	}
	if ((form & B_24_HOURS) == 0)
		t->hour = (uint8_t)(t->hour % 12 + (pm ? 12 : 0));
}

/* Days from 1970-01-01 to the date. The year begins in March, so that the leap day is
 * its last: month m (March = 0) begins on day (153 m + 2) / 5. Valid from 1970 to 2099,
 * where every fourth year is a leap year. */
static uint32_t days_since_1970(uint32_t year, uint32_t month, uint32_t day)
{
	uint32_t m = (month + 9) % 12;
	uint32_t y = year - 1968 - (month <= 2);	/* since March 1968, a leap year */

	/* March 1, 1968 is 671 days before 1970. */
	return y * 365 + y / 4 + (153 * m + 2) / 5 + day - 1 - 671;
}

uint64_t rtc_read_seconds(void)
{
	struct rtc_time t;
	uint32_t year;

	if (!rtc_read_stable(&t))
		return 0;
	rtc_decode(&t, reg_read(REG_B));
	if (t.month < 1 || t.month > 12 || t.day < 1 || t.day > 31 || t.hour > 23 ||
	    t.minute > 59 || t.second > 59 || t.year > 99)
		return 0;
	year = t.year + (t.year < 70 ? 2000u : 1900u);
	return (uint64_t)days_since_1970(year, t.month, t.day) * 86400 +
	       t.hour * 3600u + t.minute * 60u + t.second;
}
