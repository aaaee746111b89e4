"""What tools/run, tools/boot, tools/gdb, tools/image and the tests share."""
