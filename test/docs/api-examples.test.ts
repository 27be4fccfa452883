import { expect, it } from 'vitest';
import { Page } from '../support/markdown.ts';
import { startService } from '../support/running-service.ts';

/** A request as docs/api.md writes it, and the body that it shows as the reply. */
interface Example {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly reply: unknown;
}

it('every example of docs/api.md gets the reply that is shown', async () => {
  const service = await startService();
  const examples = examplesOf(new Page('docs/api.md').text);
  expect(examples.length).toBeGreaterThan(8);
  /** The id that was made, by the one that is shown. */
  const made = new Map<string, string>();
  for (const { method, path, headers, body, reply } of examples) {
    const shownId = [...made.keys()].find((id) => path.includes(id)) ?? '';
    const response = await fetch((await service.url) + path.replace(shownId, made.get(shownId) ?? ''), {
      method,
      headers,
      body,
    });
    const actual: unknown = await response.json();
    expect(withoutSmsId(actual)).toEqual(withoutSmsId(reply));
    const { smsId } = Object(reply);
    if (method === 'POST' && smsId !== undefined) made.set(smsId, Object(actual).smsId);
    await service.advance(1_000);
  }
});

/** Every request that is followed by a reply. */
function examplesOf(markdown: string): readonly Example[] {
  return [...markdown.matchAll(/^```http\n(.*?)^```\n\n(?:```json\n(.*?)^```$)?/gms)].map(
    ([, request = '', reply = 'there is none']) => {
      const [head = '', ...rest] = request.split('\n\n');
      const [first = '', ...lines] = head.trimEnd().split('\n');
      const [method = '', path = ''] = first.split(' ');
      const body = rest.join('\n\n');
      return {
        method,
        path,
        headers: Object.fromEntries(lines.map((line) => line.split(': '))),
        body: body === '' ? null : body,
        reply: JSON.parse(reply),
      };
    },
  );
}

/** The id of a message is made anew each time. */
function withoutSmsId(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, member) => (name === 'smsId' ? '' : member));
}
