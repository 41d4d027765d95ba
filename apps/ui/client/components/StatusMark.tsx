import type { Status, Tone } from "../model/status.ts";

// A shape for each tone: colour alone says nothing to many.
const SHAPES: Readonly<Record<Tone, string>> = {
  good: "M6 1a5 5 0 1 1 0 10A5 5 0 0 1 6 1Z",
  warning: "M6 .8 11.6 11H.4Z",
  bad: "M1.2 3.3 3.3 1.2 6 3.9 8.7 1.2l2.1 2.1L8.1 6l2.7 2.7-2.1 2.1L6 8.1l-2.7 2.7-2.1-2.1L3.9 6Z",
  progress: "M6 1a5 5 0 0 1 0 10ZM6 1a5 5 0 0 0 0 10V9.4a3.4 3.4 0 0 1 0-6.8Z",
  unknown: "M1.5 1.5h9v9h-9Zm1.6 1.6v5.8h5.8V3.1Z",
};

/** The shape of a tone, without a word: beside it there is one. */
export function ToneShape({ tone }: { readonly tone: Tone }) {
  return (
    <svg className="tone-shape" data-tone={tone} viewBox="0 0 12 12" aria-hidden="true">
      <path d={SHAPES[tone]} fillRule="evenodd" />
    </svg>
  );
}

/** A state as shape, colour and word. */
export function StatusMark({ status: { tone, word } }: { readonly status: Status }) {
  return (
    <span className="status" data-tone={tone}>
      <ToneShape tone={tone} />
      <span>{word}</span>
    </span>
  );
}
