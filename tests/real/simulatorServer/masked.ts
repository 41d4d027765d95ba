// What must differ between two clusters, and says nothing of how a server answers.
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "TOKEN"],
  [/(resourceVersion"?: ?"?)\d+/g, "$1VERSION"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, "TIME"],
  [/\b10\.96\.\d+\.\d+/g, "ADDRESS"],
  [/https:\/\/(127\.0\.0\.1|localhost):\d+/g, "SERVER"],
  [/(nodePort"?: )3\d{4}/g, "$1PORT"],
  [/:3\d{4}\//g, ":PORT/"],
  // Ages in tables and descriptions.
  [/(?<=\s)(\d+[smhd])+(?=\s|$)/g, "AGE"],
  [/"(\d+[smh])+"/g, '"AGE"'],
  [/(continue"?: ?"?)[\w=-]+/g, "$1TOKEN"],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, "/tmp/$1"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, "TIME"],
  [/"serverAddress":"[\d.:]+"/g, "ADDRESS"],
  [/Key: \/[\w-]+\//g, "Key: /PREFIX/"],
  [/(Resource Version: +)\d+/g, "$1VERSION"],
  [/edit-\d+\.yaml/g, "edit.yaml"],
  [/--cache-dir='[^']*'/g, "--cache-dir=FOLDER"],
  [/(in record \(|too old resource version: \d+ \()\d+/g, "$1VERSION"],
  [/hash=[0-9A-F]+/g, "hash=HASH"],
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}\b(?= created|"|\s|$)/g, "-SUFFIX"],
];

/** An answer without what must differ; tables of which ages differ are as wide as any. */
export function masked(text: string): string {
  const replaced = MASKS.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
  return replaced
    .replace(/(?<=\S) {2,}/g, "  ")
    .replace(/(AGE|ADDRESS|PORT\/TCP) +/g, "$1 ")
    .replace(/ +$/gm, "");
}
