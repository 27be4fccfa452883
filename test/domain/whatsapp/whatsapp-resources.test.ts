import { expect, it } from 'vitest';
import {
  accountsIn,
  countResources,
  findAccount,
  findPhoneNumber,
  findTemplate,
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

it('the accounts of a tree are those of all businesses in its order', () => {
  expect(accountsIn(tree)).toEqual([first, second, third]);
});

it('a number is found anywhere in the tree, with its account and the business that is its portfolio', () => {
  const phoneNumber = aWhatsappPhoneNumber({ id: 'p9' });
  const account = aWhatsappAccount({ id: 'a9', phoneNumbers: [aWhatsappPhoneNumber(), phoneNumber] });
  const business = aWhatsappBusiness({ id: 'b9', whatsappAccounts: [third, account] });
  const found = findPhoneNumber([...tree, business], 'p9');
  expect(found?.phoneNumber).toBe(phoneNumber);
  expect(found?.account).toBe(account);
  expect(found?.business).toBe(business);
  expect(findPhoneNumber(tree, 'p9')).toBeNull();
  expect(findPhoneNumber([], 'p9')).toBeNull();
});

it('a template is found in whatever account has it', () => {
  const template = aWhatsappTemplate({ id: 't9' });
  const account = aWhatsappAccount({ templates: [aWhatsappTemplate(), template] });
  const business = aWhatsappBusiness({ whatsappAccounts: [third, account] });
  expect(findTemplate([...tree, business], 't9')).toBe(template);
  expect(findTemplate(tree, 't9')).toBeNull();
  expect(findTemplate([], 't9')).toBeNull();
});
