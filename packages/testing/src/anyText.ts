import fc from "fast-check";

/**
 * Texts of any characters of Unicode. `fc.string({ unit: "binary" })` draws the same, and takes seconds of processor time in each process to find out
 * how it would shrink texts that it did not draw.
 */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  // No half of a surrogate pair.
  const character = fc
    .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code));
  return fc.array(character, { maxLength }).map((characters) => characters.join(""));
}
