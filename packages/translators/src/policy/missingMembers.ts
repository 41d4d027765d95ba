/** Which of the members that a reference needs it lacks, in words; undefined when it has all. */
export function missingMembers<M extends string>(ref: { readonly [K in M]?: string }, members: readonly M[]): string | undefined {
  const missing = members.filter((member) => !ref[member]);
  if (missing.length === 0) return undefined;
  return `${enumeration(missing)} ${missing.length === 1 ? "is" : "are"} missing: ${enumeration(members)} are required`;
}

function enumeration(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
