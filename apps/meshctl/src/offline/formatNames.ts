/** How findings are printed for other programs. */
export const FINDING_FORMATS = ["json", "sarif", "junit", "github", "gitlab", "markdown"] as const;
/** One of them. */
export type FindingFormat = (typeof FINDING_FORMATS)[number];
