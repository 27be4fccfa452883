import { expect, onTestFinished } from 'vitest';
import type { HttpServer } from '../../src/adapters/http/http-server.ts';
import { messageOf } from '../../src/application/errors/error-text.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../src/bootstrap/harness/harness.ts';
import { documentedReplies } from './documented-replies.ts';

type ReplyCheck = ReturnType<typeof documentedReplies>;

/** The checks of both documents. All services have the same ones, and making a check takes longer than most tests. */
let ofCustomers: ReplyCheck | null = null;
let ofOperators: ReplyCheck | null = null;

/** A harness that is closed after the test, and fails it when a reply was not as documented. */
export async function startService(options: HarnessOptions = {}): Promise<Harness> {
  const problems: string[] = [];
  const harness = await startHarness({
    ...options,
    observeReply: (seen) => {
      try {
        checkFor(seen.route, harness.service.http)(seen);
      } catch (error) {
        problems.push(messageOf(error));
      }
    },
  });
  onTestFinished(async () => {
    await harness.close();
    expect(problems).toEqual([]);
  });
  return harness;
}

function checkFor(route: string | null, http: HttpServer): ReplyCheck {
  if (route?.startsWith('/admin') === true) {
    ofOperators ??= documentedReplies(required(http.adminOpenApi));
    return ofOperators;
  }
  ofCustomers ??= documentedReplies(http.openApi);
  return ofCustomers;
}

function required<Document>(document: Document | null): Document {
  if (document === null) throw new Error('A service without the admin interface replied to a request for it');
  return document;
}
