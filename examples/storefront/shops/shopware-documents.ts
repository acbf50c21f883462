/** The parts of entities of Shopware's Admin API that are read here. */
export interface ShopwareState {
  technicalName: string;
}

export interface ShopwareAddress {
  company: string | null;
  department: string | null;
  firstName: string;
  lastName: string;
  street: string;
  additionalAddressLine1: string | null;
  additionalAddressLine2: string | null;
  zipcode: string | null;
  city: string;
  phoneNumber: string | null;
  country: { name: string; iso: string } | null;
  countryState: { name: string; shortCode: string } | null;
}

export interface ShopwareCosts {
  totalPrice: number;
  calculatedTaxes: { tax: number; taxRate: number }[];
}

export interface ShopwareOrder {
  id: string;
  orderNumber: string;
  orderDateTime: string;
  price: { taxStatus: string };
  shippingCosts: ShopwareCosts;
  currency: { isoCode: string };
  stateMachineState: ShopwareState;
  orderCustomer: {
    customerId: string | null;
    customerNumber: string | null;
    email: string;
    firstName: string;
    lastName: string;
    company: string | null;
  } | null;
  billingAddress: ShopwareAddress | null;
  deliveries: {
    id: string;
    trackingCodes: string[];
    stateMachineState: ShopwareState;
    shippingOrderAddress: ShopwareAddress | null;
  }[];
  transactions: { createdAt: string; stateMachineState: ShopwareState }[];
  lineItems: {
    id: string;
    identifier: string;
    type: string;
    label: string;
    quantity: number;
    payload: { productNumber?: string } | null;
    price: ShopwareCosts;
    position: number;
  }[];
  tags: { name: string }[];
}

/** Texts in one of the languages of the shop. */
export interface ShopwareTranslation {
  language: { locale: { code: string } };
  name?: string | null;
  description?: string | null;
  alt?: string | null;
}

export interface ShopwareImage {
  id: string;
  position: number;
  media: { url: string; alt: string | null; translations: ShopwareTranslation[] };
}

export interface ShopwareProduct {
  id: string;
  parentId: string | null;
  productNumber: string;
  ean: string | null;
  manufacturerNumber: string | null;
  translated: { name: string | null; description: string | null };
  price: { currencyId: string; net: number; gross: number }[] | null;
  tax: { taxRate: number } | null;
  tags: { name: string }[];
  translations: ShopwareTranslation[];
  /** Which of the images comes first. */
  coverId: string | null;
  media: ShopwareImage[];
}

/** The body of a webhook of an app. Events of entities name ids only. */
export interface ShopwareMessage {
  data: { event: string; payload: { entity: string; operation: string; primaryKey: string }[] };
  source: { eventId: string };
}

const inLanguages = { associations: { language: { associations: { locale: {} } } } };

/** What is to be read of a product beside its own fields. */
export const productAssociations = {
  tax: {},
  tags: {},
  translations: inLanguages,
  media: { associations: { media: { associations: { translations: inLanguages } } } },
};

/** What is to be read of an order beside its own fields. */
export const orderAssociations = {
  currency: {},
  stateMachineState: {},
  orderCustomer: {},
  tags: {},
  lineItems: {},
  billingAddress: { associations: { country: {}, countryState: {} } },
  transactions: { associations: { stateMachineState: {} } },
  deliveries: {
    associations: {
      stateMachineState: {},
      shippingOrderAddress: { associations: { country: {}, countryState: {} } },
    },
  },
};
