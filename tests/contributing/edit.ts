/** A file that a recipe creates, or one place of an existing file that it changes. */
export interface Edit {
  /** Relative to the repository's root, with `/`. */
  readonly path: string;
  /** The text to replace, which occurs exactly once in the file. Absent: the file is new. */
  readonly anchor?: string;
  readonly text: string;
}

/** A new file. */
export function createFile(path: string, text: string): Edit {
  return { path, text };
}

/** Replaces a text that occurs once. */
export function replaceText(path: string, anchor: string, text: string): Edit {
  return { path, anchor, text };
}

/** Inserts text before an anchor that occurs once. */
export function insertBefore(path: string, anchor: string, text: string): Edit {
  return { path, anchor, text: `${text}${anchor}` };
}

/** Inserts text after an anchor that occurs once. */
export function insertAfter(path: string, anchor: string, text: string): Edit {
  return { path, anchor, text: `${anchor}${text}` };
}

/**
 * The content of a file after an edit. Throws if the file is missing, if it exists although the edit creates it, or if the anchor does not
 * occur exactly once; the message names the recipe, the file and the anchor.
 */
export function editedText(recipe: string, { path, anchor, text }: Edit, current: string | undefined): string {
  if (anchor === undefined) {
    if (current !== undefined) throw new Error(`recipe "${recipe}": ${path} already exists: give the new file of the recipe another name`);
    return text;
  }
  if (current === undefined) throw new Error(`recipe "${recipe}": ${path} does not exist: correct the path in tests/contributing/recipes`);
  const parts = current.split(anchor);
  if (parts.length !== 2)
    throw new Error(
      `recipe "${recipe}": the anchor ${JSON.stringify(anchor)} occurs ${parts.length - 1} times in ${path}, must be once: correct the anchor in tests/contributing/recipes`,
    );
  return parts.join(text);
}
