import { codeOf } from '../../../application/errors/error-text.ts';

/** What one check of `barid doctor` says. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do; null when nothing is to be done. */
  readonly advice: string | null;
}

export function well(check: string, detail: string): Finding {
  return { check, ok: true, detail, advice: null };
}

export function wrong(check: string, detail: string, advice: string): Finding {
  return { check, ok: false, detail, advice };
}

/** The text of an error in one line, without addresses and passwords of a URL. */
export function reasonIn(error: unknown): string {
  return codeOf(error).split('\n')[0] ?? '';
}
