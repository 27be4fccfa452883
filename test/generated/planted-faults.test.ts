import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Action, actionsOf } from './actions.ts';
import { type Fault, FaultyFront } from './faulty-front.ts';
import { GeneratedRun } from './generated-run.ts';
import { API_KEYS, GeneratedService } from './generated-service.ts';
import { DocumentChecks } from './reply-checks.ts';

/** So many actions are more than enough to find each fault. */
const ACTIONS_MAX = 1_000;
/** With this seed each fault that requests show is found among the first 200 of them. */
const SEED = 20;
/** The same for faults that only twins show. */
const SEED_OF_TWINS = 16;
const TIME_LIMIT_MS = 120_000;

const ONE_CAMPAIGN = /^(?:\/api)?\/whatsapp\/campaigns\/[a-f0-9]{24}(?:\?|$)/;
const HALF_CHARACTER = /\\ud[89a-f]/i;
const INTERNAL_ERROR = { message: 'Internal server error' };

const json = (text: string): Record<string, unknown> | null => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return null;
  }
};

const leaksCampaigns: Fault = async ({ method, path, headers, forward }) => {
  const reply = await forward();
  if (method !== 'GET' || reply.status !== 404 || !ONE_CAMPAIGN.test(path)) return reply;
  const otherKey = API_KEYS.find((key) => headers.authorization !== `Bearer ${key}`);
  return forward({ headers: { ...headers, authorization: `Bearer ${otherKey}` } });
};

const tellsMore: Fault = async ({ method, path, forward }) => {
  const reply = await forward();
  if (method !== 'GET' || !path.endsWith('/info') || reply.status !== 200) return reply;
  return { ...reply, text: JSON.stringify({ ...json(reply.text), apiKeys: 1 }) };
};

const failsOnHalfCharacters: Fault = async ({ method, body, forward }) => {
  const reply = await forward();
  if (method !== 'POST' || !HALF_CHARACTER.test(body) || reply.status !== 400) return reply;
  const headers = { ...reply.headers, 'x-error-code': 'internal-error' };
  return { ...reply, status: 500, headers, text: JSON.stringify(INTERNAL_ERROR) };
};

const takesReadOnlyFields: Fault = ({ body, forward }) => {
  const given = json(body);
  return given?.name !== undefined && given.status !== undefined
    ? forward({ body: JSON.stringify({ ...given, name: 'Completed' }) })
    : forward();
};

const sendsThoughRejected: Fault = async ({ headers, forward }) => {
  const reply = await forward();
  if (reply.status === 400) {
    const { authorization = '' } = headers;
    const body = { phoneNumber: '9647701234567', smsType: 'custom', customMessage: 'x', provider: 'sms' };
    await forward({
      method: 'POST',
      path: '/sms',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }
  return reply;
};

const acceptsMore: Fault = ({ body, forward }) => {
  const given = json(body);
  const { name } = given ?? {};
  return name === undefined || name === null || typeof name === 'string'
    ? forward()
    : forward({ body: JSON.stringify({ ...given, name: 'Accepted' }) });
};

/** What finds the fault; a fault that only twins show is found sooner without the rest. */
it.each<[string, Fault, RegExp, Action['kind']]>([
  [
    'a route that leaks a campaign of another project',
    leaksCampaigns,
    /Another project was let through/,
    'request',
  ],
  ['a reply with an undocumented field', tellsMore, /must NOT have additional properties/, 'request'],
  ['a 500 on half of a surrogate pair', failsOnHalfCharacters, /The service failed/, 'request'],
  ['a read-only field that changes something', takesReadOnlyFields, /more fields changed something/, 'twins'],
  [
    'a rejected request that sends a message',
    sendsThoughRejected,
    /rejected request of project . changed something/,
    'request',
  ],
  [
    'a body that is accepted and not documented',
    acceptsMore,
    /accepted that the document does not allow/,
    'request',
  ],
])(
  'the generated requests find a planted fault: %s',
  async (_, fault, found, kind) => {
    const seed = kind === 'twins' ? SEED_OF_TWINS : SEED;
    await expect(runBehind(fault, seed, (action) => action.kind === kind)).rejects.toThrow(found);
  },
  TIME_LIMIT_MS,
);

it(
  'the generated requests find nothing behind a front without a fault',
  async () => {
    await expect(
      runBehind(
        ({ forward }) => forward(),
        SEED,
        (_, index) => index < 300,
      ),
    ).resolves.toBeUndefined();
  },
  TIME_LIMIT_MS,
);

async function runBehind(
  fault: Fault,
  seed: number,
  isRun: (action: Action, index: number) => boolean,
): Promise<void> {
  const service = await GeneratedService.start();
  const front = await FaultyFront.open(service.port, fault);
  const document = await service.document();
  const run = new GeneratedRun(service.target(front.port), new DocumentChecks(document), new Map());
  try {
    await run.begin();
    const actions = fc.sample(fc.noBias(actionsOf(document)), { seed, numRuns: ACTIONS_MAX });
    for (const action of actions.filter(isRun).filter(passesAFront)) await run.run(action);
  } finally {
    run.close();
    front.close();
    await service.close();
  }
}

/** What concerns the connection ends at the front. */
function passesAFront(action: Action): boolean {
  if (action.kind !== 'request') return true;
  const isOfConnection = ['Expect', 'Upgrade', 'Transfer-Encoding', 'X-Large'].some(
    (name) => name in action.headers,
  );
  return !isOfConnection && action.bodyTrick === null && action.rawQuery === '';
}
