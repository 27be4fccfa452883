import { expect, it } from 'vitest';
import {
  countResources,
  findAccount,
  findPhoneNumber,
  findPortfolio,
} from '../../../src/domain/whatsapp/whatsapp-resources.ts';
import {
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
} from '../../support/builders.ts';

const first = aWhatsappAccount({ id: 'a1' });
const second = aWhatsappAccount({
  id: 'a2',
  phoneNumbers: [aWhatsappPhoneNumber(), aWhatsappPhoneNumber()],
  templates: [aWhatsappTemplate(), aWhatsappTemplate(), aWhatsappTemplate()],
});
const third = aWhatsappAccount({ id: 'a3', phoneNumbers: [], templates: [] });
const tree = [
  aWhatsappBusiness({ whatsappAccounts: [first, second] }),
  aWhatsappBusiness({ whatsappAccounts: [third] }),
];

it('the summary counts every level of the tree', () => {
  expect(countResources(tree)).toEqual({
    businessCount: 2,
    accountCount: 3,
    phoneNumberCount: 3,
    templateCount: 4,
  });
  expect(countResources([])).toEqual({
    businessCount: 0,
    accountCount: 0,
    phoneNumberCount: 0,
    templateCount: 0,
  });
});

it('an account is found anywhere in the tree', () => {
  expect(findAccount(tree, 'a1')).toBe(first);
  expect(findAccount(tree, 'a3')).toBe(third);
  expect(findAccount(tree, 'a4')).toBeNull();
  expect(findAccount([], 'a1')).toBeNull();
});

it('a number is found anywhere in the tree', () => {
  const last = aWhatsappPhoneNumber({ id: 'p9' });
  const numbers = [
    aWhatsappBusiness({
      whatsappAccounts: [third, aWhatsappAccount({ phoneNumbers: [aWhatsappPhoneNumber(), last] })],
    }),
  ];
  expect(findPhoneNumber([...tree, ...numbers], 'p9')).toBe(last);
  expect(findPhoneNumber(tree, 'p9')).toBeNull();
});

it('the portfolio of a number is the business that has it, in whatever account', () => {
  const business = aWhatsappBusiness({
    whatsappAccounts: [
      third,
      aWhatsappAccount({ phoneNumbers: [aWhatsappPhoneNumber(), aWhatsappPhoneNumber({ id: 'p9' })] }),
    ],
  });
  expect(findPortfolio([...tree, business], 'p9')).toBe(business);
  expect(findPortfolio(tree, 'p9')).toBeNull();
  expect(findPortfolio([], 'p9')).toBeNull();
});
