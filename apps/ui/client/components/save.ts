/** Saves a text as a file, of a type that browsers do not show by themselves unless it is said. */
export function save(name: string, text: string, type = "application/octet-stream"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
