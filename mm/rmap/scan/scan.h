/* Inside mm/rmap/scan/: what scan.c sets and break.c breaks. */
#ifndef MM_RMAP_SCAN_H
#define MM_RMAP_SCAN_H

/* What `mapping` of an anonymous page points to: it says that the page is anonymous, and
 * no more (rmap.9). Nobody looks at what is there. */
extern char scan_marker;

#endif
