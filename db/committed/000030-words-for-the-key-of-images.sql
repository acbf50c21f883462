--! Previous: sha1:056be1527dec9eef44df4bd4c9f01824d5238f75
--! Hash: sha1:5df02718c4cca8a99e98b6dcd8731d010a7fd309
--! Message: words-for-the-key-of-images

--! split: 16-image-key.sql
comment on constraint product_image_pkey on erp.product_image is
  '@internal set_images() replaces what is at a position';
