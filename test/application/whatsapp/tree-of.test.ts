import { expect, it } from 'vitest';
import { lockedTreeOf, treeOf } from '../../../src/application/whatsapp/tree-of.ts';
import { aCampaignBusiness, OTHER_PROJECT, openCampaigns, PROJECT } from '../../support/campaign-world.ts';

it('a project without whatsapp resources has an empty tree, with a lock too', async () => {
  const world = await openCampaigns();
  const { unitOfWork } = world;
  expect(await unitOfWork.read((stores) => treeOf(stores, PROJECT.id))).toEqual([aCampaignBusiness()]);
  expect(await unitOfWork.read((stores) => treeOf(stores, OTHER_PROJECT.id))).toEqual([]);
  expect(await unitOfWork.run((stores) => lockedTreeOf(stores, PROJECT.id))).toEqual([aCampaignBusiness()]);
  expect(await unitOfWork.run((stores) => lockedTreeOf(stores, OTHER_PROJECT.id))).toEqual([]);
  await world.close();
});
