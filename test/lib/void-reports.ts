/** SQL that declares all stock valuation reports void, so that what they count can be deleted. */
export const voidReports = `
  update valuation.report set voided_at = now(), void_reason = 'Test' where closed_at is not null and voided_at is null`;
