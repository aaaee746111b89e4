/* What RMAP=scan adds to page, vma and mm: nothing (docs/history.md 6.8). */
#ifndef RMAP_TYPES_H
#define RMAP_TYPES_H

struct rmap_page { };			/* page->mapping is the marker, page->index the hint */
struct rmap_vma { };
struct rmap_mm { };

#endif
