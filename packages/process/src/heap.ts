import { setFlagsFromString } from "node:v8";

/**
 * Has V8 keep little memory beside what lives, for a program that reads much once and then seldom changes it: collections come sooner
 * and take more of the processor while much is read. To be called before anything large is.
 */
export function keepHeapSmall(): void {
  for (const flag of SMALL) setFlagsFromString(flag);
}

// V8 reads both each time that it decides: how far the young generation grows (it begins with 1 MiB, and would become 48), and by how
// much old objects may grow until they are looked through (else threefold and more). Measured on an agent of 20,000 Pods: 136 MiB
// of 194, for 8.4 s of processor instead of 6.3 until it is in sync.
const SMALL = ["--semi-space-growth-factor=1", "--heap-growing-percent=50"];
