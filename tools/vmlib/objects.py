"""Memory objects: their radix trees of pages and swap entries, and who maps them."""
from .spaces import SWAP_TAG, entry_of


class Tree:
    """A radix tree, walked as it lies in memory."""

    def __init__(self, m, radix):
        self.m, self.radix = m, radix
        self.bits = m.constant("RADIX_BITS")
        self.broken = []                # (invariant, words) of radix.1 and radix.2

    def items(self):
        """(index, word) of every item, in order. Afterwards `broken` says what is wrong with the nodes."""
        root, height = self.m.memory.word(self.radix.address + self.radix.type.offset("root")), self.radix.height
        if (root == 0) != (height == 0):
            self.broken.append(("radix.2", f"height 0 means no root: height {height}, root {root:#x}"))
        elif root:
            yield from self._below(root, height, 0)

    def _below(self, address, level, index):
        node = self.m.struct("radix_node", address)
        slots = node.slot
        used = 0
        for i in range(len(slots)):
            word = slots[i]
            if not word:
                continue
            used += 1
            place = index | i << (level - 1) * self.bits
            if level == 1:
                yield place, word
            else:
                yield from self._below(word, level - 1, place)
        if used != node.used or used == 0:
            self.broken.append(("radix.1", f"used is the number of slots in use, no node is empty: node {address:#x} "
                                           f"of index {index}, level {level}: {node.used}, found {used}"))


def is_swap_item(word):
    """A tree's item is a page descriptor's address, or a swap entry as in a PTE."""
    return word & 3 == SWAP_TAG


class Objects:
    """All memory objects of machine `m`."""

    def __init__(self, m, frames):
        self.m, self.frames = m, frames

    def __iter__(self):
        return self.m.each(self.m.variable("objects_all"), "object", "link")

    def contents(self, obj):
        """(pages, swapped): index -> Frame, index -> (area, slot)."""
        pages, swapped = {}, {}
        for index, word in Tree(self.m, obj.tree).items():
            if is_swap_item(word):
                swapped[index] = entry_of(word)
            else:
                pages[index] = self.frames.at(word)
        return pages, swapped

    def entries(self):
        """(area, slot) -> [(object, index)] over all objects."""
        found = {}
        for obj in self:
            for index, word in Tree(self.m, obj.tree).items():
                if is_swap_item(word):
                    found.setdefault(entry_of(word), []).append((obj, index))
        return found

    def kind(self, obj):
        return self.m.enum_name("object_kind", obj.kind, "OBJECT_").lower()

    def vmas(self, obj):
        return self.m.each(obj.vmas, "vma", "object_link")
