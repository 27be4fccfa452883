import { expect, it } from 'vitest';
import { Page } from '../support/markdown.ts';
import { startService } from '../support/running-service.ts';

/** A request as a page writes it, and the body that it shows as the reply. */
interface Example {
  /** The number of the section it stands in; empty outside of numbered sections. */
  readonly section: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly reply: unknown;
}

/** A campaign is described by endpoint and lives in another order. All other examples run in the order of the page. */
const CAMPAIGN_SECTIONS = ['4.17', '4.10', '4.11', '4.16', '4.18', '4.15', '4.14', '4.12', '4.9', '4.13'];

/** The names of fields with values that are new in each run: ids, instants, and what is made of them. */
const NEW_FIELDS = /^(?:smsId|_id|fileId|filename|downloadUrl|project|[a-z]+At)$/;
const NEW_VALUES =
  /http:[^"]+\/files\/[0-9a-f]{40}|delivery-report-[^"]+\.csv|[0-9a-f]{40}|[0-9a-f]{24}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g;

it.each(['docs/api.md', 'docs/campaigns.md'])(
  'every example of %s gets the reply that is shown',
  async (path) => {
    const service = await startService();
    const examples = inOrder(examplesOf(new Page(path).text));
    expect(examples.length).toBeGreaterThan(5);
    /** The id or instant of this run, by the one that is shown; ids without `sms-`. */
    const made = new Map<string, string>();
    const asMade = (text: string) => text.replaceAll(NEW_VALUES, (shown) => made.get(shown) ?? shown);
    for (const { method, path: target, headers, body, reply } of examples) {
      const response = await fetch((await service.url) + asMade(target), { method, headers, body });
      const actual: unknown = await response.json();
      learnNew(reply, actual, made);
      expect(actual).toEqual(JSON.parse(asMade(JSON.stringify(reply))));
      await service.advance(1_000);
    }
  },
);

/** Every request that is followed by a reply. */
function examplesOf(markdown: string): readonly Example[] {
  return [...markdown.matchAll(/^```http\n(.*?)^```\n\n(?:```json\n(.*?)^```$)?/gms)].map(
    ({ 1: request = '', 2: reply = 'there is none', index }) => {
      const [head = '', ...rest] = request.split('\n\n');
      const [first = '', ...lines] = head.trimEnd().split('\n');
      const [method = '', path = ''] = first.split(' ');
      const body = rest.join('\n\n');
      return {
        section: [...markdown.slice(0, index).matchAll(/^### ([0-9.]+) /gm)].at(-1)?.[1] ?? '',
        method,
        path,
        headers: Object.fromEntries(lines.map((line) => line.split(': '))),
        body: body === '' ? null : body,
        reply: JSON.parse(reply),
      };
    },
  );
}

/** The examples with those of campaigns in the order of `CAMPAIGN_SECTIONS`, in the place of the first of them. */
function inOrder(examples: readonly Example[]): readonly Example[] {
  const rank = ({ section }: Example) => CAMPAIGN_SECTIONS.indexOf(section);
  const campaigns = examples.filter((each) => rank(each) !== -1).sort((a, b) => rank(a) - rank(b));
  const first = examples.findIndex((each) => rank(each) !== -1);
  if (first === -1) return examples;
  const others = examples.filter((each) => rank(each) === -1);
  return [...others.slice(0, first), ...campaigns, ...others.slice(first)];
}

/** Adds ids and instants to `made`, where a reply has another one than is shown. */
function learnNew(shown: unknown, actual: unknown, made: Map<string, string>): void {
  if (typeof shown !== 'object' || shown === null || typeof actual !== 'object' || actual === null) return;
  for (const [name, value] of Object.entries(shown)) {
    const counterpart: unknown = Object(actual)[name];
    if (NEW_FIELDS.test(name) && typeof value === 'string' && typeof counterpart === 'string') {
      const [from, to] = [withoutPrefix(value), withoutPrefix(counterpart)];
      if (from !== to && !made.has(from)) made.set(from, to);
    }
    learnNew(value, counterpart, made);
  }
}

function withoutPrefix(id: string): string {
  return id.replace(/^sms-/, '');
}
