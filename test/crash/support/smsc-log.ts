import type { TakenSubmit } from '../../support/library-smsc.ts';

/** What an SMSC wrote down before it was killed. */
export interface SmscLog {
  readonly taken: readonly TakenSubmit[];
  /** The ids of messages whose receipts were acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
}

/** Reads the file of the SMSC. The last line may be cut off by a kill: nothing followed from it. */
export function readSmscLog(text: string): SmscLog {
  const taken: TakenSubmit[] = [];
  const acknowledged = new Set<string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [event, id, systemId, destination, part, parts] = line.split(' ');
    if (event === 'acknowledged' && id !== undefined) acknowledged.add(id);
    else if (event === 'taken' && id !== undefined && systemId !== undefined && destination !== undefined) {
      taken.push({ id, systemId, destination, part: Number(part), parts: Number(parts) });
    } else throw new Error(`The SMSC wrote ${line}`);
  }
  return { taken, acknowledged };
}
