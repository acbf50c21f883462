comment on constraint product_image_pkey on erp.product_image is
  '@internal set_images() replaces what is at a position';
