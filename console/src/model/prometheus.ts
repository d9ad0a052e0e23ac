/** Reads the text format of Prometheus, as far as the operators' page needs it. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parse(text: string): Sample[] {
  const found: Sample[] = [];
  for (const line of text.split("\n")) {
    const match = line.startsWith("#") ? null : LINE.exec(line);
    if (!match) continue;
    const labels = Object.fromEntries(
      [...(match[2] ?? "").matchAll(LABEL)].map((each) => [each[1], each[2]]),
    );
    found.push({ name: match[1] ?? "", labels, value: match[3] === "+Inf" ? Infinity : Number(match[3]) });
  }
  return found;
}

/** Return the bound of a histogram's bucket below which a share of the observations lies. */
export function quantile(buckets: readonly Sample[], share: number): number | null {
  const sorted = [...buckets].sort((a, b) => bound(a) - bound(b));
  const total = sorted.at(-1)?.value ?? 0;
  if (total === 0) return null;
  return bound(sorted.find((each) => each.value >= share * total) as Sample);
}

const bound = (sample: Sample): number => (sample.labels.le === "+Inf" ? Infinity : Number(sample.labels.le));
