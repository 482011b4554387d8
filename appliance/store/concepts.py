"""What people call a thing, and under which names pages state it."""

from appliance.store.facts import split_words

_TABLE: tuple[tuple[str, str], ...] = (
    ("name, title, headline, heading, product name, item name",
     "name headline og:title twitter:title heading page_title"),
    ("page title", "page_title"),
    ("price, cost, current price, sale price, unit price",
     "offers.price offers.pricespecification.price price offers.lowprice product:price:amount og:price:amount"),
    ("lowest price, minimum price, price from", "offers.lowprice offers.price"),
    ("highest price, maximum price, price to", "offers.highprice"),
    ("currency, price currency, currency code",
     "offers.pricecurrency offers.pricespecification.pricecurrency pricecurrency product:price:currency "
     "og:price:currency offers.price price product:price:amount"),
    ("sku, article number, item number, stock keeping unit", "sku offers.sku product:retailer_item_id"),
    ("brand, manufacturer, maker, brand name",
     "brand.name brand manufacturer.name manufacturer product:brand og:brand"),
    ("description, summary, abstract", "description abstract og:description twitter:description page_prose"),
    ("text, body, content, full text, article text, article body, body text, page text",
     "articlebody page_text"),
    ("image, image url, picture, photo, thumbnail, cover", "image image.url image.contenturl thumbnailurl og:image"),
    ("url, link, page url, source url, web address, address of page", "page_url"),
    ("canonical url, product url", "url og:url page_url"),
    ("rating, rating value, average rating, star, score, review score", "aggregaterating.ratingvalue"),
    ("review count, review, number of review, rating count, number of rating",
     "aggregaterating.reviewcount aggregaterating.ratingcount"),
    ("availability, in stock, stock, available, is available, stock status",
     "offers.availability availability product:availability og:availability"),
    ("published, date published, publication date, publish date, published at, published on, date, posted, release "
     "date, date posted, published date",
     "datepublished dateposted article:published_time uploaddate datecreated startdate releasedate"),
    ("release date, released", "releasedate datepublished"),
    ("modified, updated, date modified, last updated, updated at, last modified",
     "datemodified article:modified_time og:updated_time"),
    ("author, writer, written by, author name", "author.name author article:author creator.name"),
    ("publisher, site name, site, publisher name", "publisher.name publisher og:site_name"),
    ("language", "inlanguage"),
    ("category, section", "category articlesection article:section product:category"),
    ("keyword, tag", "keywords article:tag"),
    ("start, start date, start time, begin, date", "startdate"),
    ("end, end date, end time", "enddate"),
    ("location, place, venue", "location.name joblocation.address.addresslocality location"),
    ("city, town, locality", "address.addresslocality location.address.addresslocality"),
    ("street, street address", "address.streetaddress location.address.streetaddress"),
    ("postal code, zip, zip code, postcode", "address.postalcode location.address.postalcode"),
    ("country", "address.addresscountry location.address.addresscountry"),
    ("company, employer, hiring organization, company name", "hiringorganization.name"),
    ("phone, telephone, phone number, telephone number", "telephone"),
    ("email, e mail, mail, email address", "email"),
    ("ingredient", "recipeingredient"),
    ("instruction, step, direction", "recipeinstructions"),
    ("serving, yield, portion", "recipeyield"),
    ("prep time, preparation time", "preptime"),
    ("cook time, cooking time", "cooktime"),
    ("total time", "totaltime"),
    ("gtin, ean, barcode", "gtin13 gtin gtin8 gtin12 gtin14"),
    ("mpn, manufacturer part number, part number", "mpn"),
    ("colour, color", "color"),
    ("condition", "offers.itemcondition itemcondition product:condition"),
    ("page count, number of page", "numberofpages"),
    ("salary", "basesalary.value.value basesalary.value"),
)  # fmt: skip

CONCEPTS: tuple[tuple[frozenset[tuple[str, ...]], tuple[str, ...]], ...] = tuple(
    (
        frozenset(split_words(phrase) for phrase in phrases.split(", ")),
        tuple(key.replace("_", " ") if key.startswith("page_") else key for key in keys.split()),
    )
    for phrases, keys in _TABLE
)
"""For each thing: the phrases that mean it, as words in the singular, and the keys of facts stating it, best first."""

KNOWN_PHRASES: frozenset[tuple[str, ...]] = frozenset(phrase for names, _ in CONCEPTS for phrase in names)
"""Every phrase that means any of these things."""
