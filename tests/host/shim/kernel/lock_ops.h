/* Host shim of kernel/lock_ops.h: real functions, of which a test may have its own. */
#ifndef KERNEL_LOCK_OPS_H
#define KERNEL_LOCK_OPS_H

void spin_lock(struct spinlock *l);
void spin_unlock(struct spinlock *l);
uint32_t spin_lock_irq(struct spinlock *l);
void spin_unlock_irq(struct spinlock *l, uint32_t flags);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool spin_held(const struct spinlock *l);
bool lock_any_spin_held(void);

#endif
