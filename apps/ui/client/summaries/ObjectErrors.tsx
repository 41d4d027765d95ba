import type { Resource } from "@isthmus/core";
import { Name } from "../components/Name.tsx";
import { Section } from "../components/Section.tsx";
import { ToneShape } from "../components/StatusMark.tsx";
import { t } from "../strings.ts";

interface WithErrors {
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
}

/** Errors and warnings of an object as a whole; nothing where there are none. */
export function ObjectErrors({ object }: { readonly object: Resource }) {
  const { errors = [], warnings = [] } = (object as Resource & { readonly status?: WithErrors }).status ?? {};
  if (errors.length + warnings.length === 0) return null;
  return (
    <Section title={t.objects.errorsOfObject}>
      <Problems errors={errors} warnings={warnings} />
    </Section>
  );
}

/** Errors, then warnings, each with its shape. */
export function Problems({ errors = [], warnings = [] }: WithErrors) {
  return (
    <ul className="problems">
      {errors.map((text) => (
        <li key={text} className="status" data-tone="bad">
          <ToneShape tone="bad" />
          <Name text={text} isWrapped />
        </li>
      ))}
      {warnings.map((text) => (
        <li key={text} className="status" data-tone="warning">
          <ToneShape tone="warning" />
          <Name text={text} isWrapped />
        </li>
      ))}
    </ul>
  );
}
