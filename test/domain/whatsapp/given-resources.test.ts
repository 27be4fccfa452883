import { describe, expect, it } from 'vitest';
import {
  completedTree,
  countNewIds,
  type GivenBusiness,
  repeatedResourceId,
} from '../../../src/domain/whatsapp/given-resources.ts';
import { resourceChanges, resourcesInUse } from '../../../src/domain/whatsapp/resource-changes.ts';
import {
  anId,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
} from '../../support/builders.ts';

const LATER = '2031-01-01T00:00:00.000Z';
const STORED = [aWhatsappBusiness()];

/** The tree without ids and instants. */
function bare(tree: readonly GivenBusiness[]): readonly GivenBusiness[] {
  return JSON.parse(JSON.stringify(tree), (name, value) =>
    name === 'id' || name === 'createdAt' ? undefined : value,
  ) as readonly GivenBusiness[];
}

describe('given whatsapp resources', () => {
  it('resources without ids keep those that the platform knows them by', () => {
    expect(countNewIds(bare(STORED))).toBe(4);
    expect(completedTree(STORED, bare(STORED), { ids: [], createdAt: LATER })).toEqual(STORED);
  });

  it('resources keep their ids in any order, each by what the platform knows it by', () => {
    const account = (n: number) =>
      aWhatsappAccount({
        id: anId(n),
        whatsappBusinessId: `account ${n}`,
        phoneNumbers: [1, 2].map((each) =>
          aWhatsappPhoneNumber({ id: anId(10 * n + each), phoneNumberId: `number ${n} ${each}` }),
        ),
        templates: [
          aWhatsappTemplate({ id: anId(10 * n + 3), name: 'a', language: 'en' }),
          aWhatsappTemplate({ id: anId(10 * n + 4), name: 'a', language: 'ar' }),
          aWhatsappTemplate({ id: anId(10 * n + 5), name: 'b', language: 'en' }),
        ],
      });
    const business = (n: number) =>
      aWhatsappBusiness({
        id: anId(900 + n),
        businessId: `business ${n}`,
        whatsappAccounts: [account(n), account(n + 1)],
      });
    const reversed = [business(3), business(1)].map((each) => ({
      ...each,
      whatsappAccounts: each.whatsappAccounts.toReversed().map(({ phoneNumbers, templates, ...rest }) => ({
        ...rest,
        phoneNumbers: phoneNumbers.toReversed(),
        templates: templates.toReversed(),
      })),
    }));
    const stored = [business(1), business(3)];
    expect(completedTree(stored, bare(reversed), { ids: [], createdAt: LATER })).toEqual(reversed);
  });

  it('of two stored resources with one id of the platform the first is kept', () => {
    const twin = aWhatsappBusiness({ id: anId(5), whatsappAccounts: [] });
    const [business] = completedTree([...STORED, twin], bare([twin]), { ids: [], createdAt: LATER });
    expect(business?.id).toBe(aWhatsappBusiness().id);
  });

  it('a given id is kept with its stored instant, or a given one, or the present', () => {
    const { id, createdAt, ...business } = aWhatsappBusiness({ whatsappAccounts: [] });
    const completed = (given: { readonly id: string; readonly createdAt?: string }) =>
      completedTree(STORED, [{ ...business, ...given }], { ids: [], createdAt: LATER });
    const other = '2020-01-01T00:00:00.000Z';
    expect(completed({ id })).toEqual([{ ...business, id, createdAt }]);
    expect(completed({ id, createdAt: other })).toEqual([{ ...business, id, createdAt: other }]);
    expect(completed({ id: anId(5) })).toEqual([{ ...business, id: anId(5), createdAt: LATER }]);
    expect(completed({ id: anId(5), createdAt: other })).toEqual([
      { ...business, id: anId(5), createdAt: other },
    ]);
  });

  it('only resources without ids need new ones', () => {
    expect(countNewIds(STORED)).toBe(0);
    expect(countNewIds([{ ...aWhatsappBusiness(), id: undefined }])).toBe(1);
  });

  it('resources of an empty tree get new ids and the present', () => {
    const ids = [1, 2, 3, 4].map((id) => anId(id));
    const [business] = completedTree([], bare(STORED), { ids, createdAt: LATER });
    const account = business?.whatsappAccounts[0];
    const made = [business, account, account?.phoneNumbers[0], account?.templates[0]];
    expect(made.map((each) => [each?.id, each?.createdAt])).toEqual(ids.map((id) => [id, LATER]));
    expect(() => completedTree([], bare(STORED), { ids: [], createdAt: LATER })).toThrow('too few ids');
  });

  it('two resources of one id of the platform get two ids, and a given id is not given again', () => {
    const [business] = bare(STORED);
    if (business === undefined) throw new Error('The tree has a business');
    const twins = completedTree(STORED, [business, business], {
      ids: [1, 2, 3, 4].map((id) => anId(id)),
      createdAt: LATER,
    });
    expect(repeatedResourceId(twins)).toBeNull();
    const other = { ...business, businessId: 'other', id: aWhatsappBusiness().id, whatsappAccounts: [] };
    const [, second] = completedTree(STORED, [other, { ...business, whatsappAccounts: [] }], {
      ids: [anId(9)],
      createdAt: LATER,
    });
    expect(second?.id).toBe(anId(9));
  });

  it('an id that stands twice is found, wherever it stands', () => {
    expect(repeatedResourceId(STORED)).toBeNull();
    expect(repeatedResourceId(bare(STORED))).toBeNull();
    const { id } = aWhatsappTemplate();
    const account = aWhatsappAccount({ phoneNumbers: [aWhatsappPhoneNumber({ id })] });
    expect(repeatedResourceId([aWhatsappBusiness({ whatsappAccounts: [account] })])).toBe(id);
  });
});

describe('changes of whatsapp resources', () => {
  it('a changed field belongs to its resource only, and null is the same as absent', () => {
    const number = aWhatsappPhoneNumber({ qualityRating: 'RED' });
    const template = aWhatsappTemplate();
    const components = template.components.map((each) => ({ example: null, ...each }));
    const after = aWhatsappBusiness({
      whatsappAccounts: [
        aWhatsappAccount({ phoneNumbers: [number], templates: [{ ...template, components }] }),
      ],
    });
    const none = { added: [], removed: [] };
    expect(resourceChanges(STORED, [after])).toEqual({ ...none, changed: [number.id] });
  });

  it('a resource that was not there is added, and one below another parent is changed', () => {
    const other = (accounts: readonly ReturnType<typeof aWhatsappAccount>[]) =>
      aWhatsappBusiness({ id: anId(5), businessId: 'other', whatsappAccounts: accounts });
    const empty = aWhatsappBusiness({ whatsappAccounts: [] });
    const { id: accountId, phoneNumbers, templates } = aWhatsappAccount();
    expect(resourceChanges([empty], STORED)).toEqual({
      added: [accountId, ...phoneNumbers.map(({ id }) => id), ...templates.map(({ id }) => id)],
      removed: [],
      changed: [],
    });
    expect(resourceChanges([...STORED, other([])], [empty, other([aWhatsappAccount()])])).toEqual({
      added: [],
      removed: [],
      changed: [accountId],
    });
  });

  it('a tree without its account lacks all below it, of which those in use are named', () => {
    const { removed } = resourceChanges(STORED, [aWhatsappBusiness({ whatsappAccounts: [] })]);
    const number = aWhatsappPhoneNumber().id;
    expect(removed).toEqual([aWhatsappAccount().id, number, aWhatsappTemplate().id]);
    const used = {
      campaign: new Set([number]),
      'inbound-webhook': new Set<string>(),
      message: new Set([number, anId(77)]),
    };
    expect(resourcesInUse(removed, used)).toEqual([{ id: number, usedBy: ['campaign', 'message'] }]);
  });
});
