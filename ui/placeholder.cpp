namespace lathe {}
